package file

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is the most characters a file name keeps.
const maxName = 140

// CleanName makes a file name of what a client calls one. It is safe in a URL
// path, in a header and in markup; it is never a path on disk. The characters
// / \ % ? # become _ (reference section 6.2), and so do < > " and control
// characters; marks that reverse the direction of text, by which "exe.gpj" is
// shown as "jpg.exe", are dropped. Nothing left is an empty name.
func CleanName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "_"))
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\%?#<>"`, r), unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return '_'
		case unicode.Is(unicode.Bidi_Control, r), r == '\ufeff':
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if strings.Trim(name, ".") == "" { // "." and ".." mean something in a URL
		name = strings.Repeat("_", len(name))
	}
	return shorten(name, "")
}

// shorten fits a name into maxName characters with a suffix put before its
// extension.
func shorten(name, suffix string) string {
	stem, ext := split(name)
	room := maxName - utf8.RuneCountInString(suffix) - utf8.RuneCountInString(ext)
	if utf8.RuneCountInString(stem) > room {
		stem = strings.TrimSpace(string([]rune(stem)[:room]))
	}
	return stem + suffix + ext
}

// split cuts off the extension, dot included; one of more than 20 characters is
// none.
func split(name string) (stem, ext string) {
	ext = path.Ext(name)
	if len(ext) < 2 || len(ext) == len(name) || utf8.RuneCountInString(ext) > 20 {
		return name, ""
	}
	return name[:len(name)-len(ext)], ext
}

// extension is the extension in lower case without its dot.
func extension(name string) string {
	_, ext := split(name)
	return strings.ToLower(strings.TrimPrefix(ext, "."))
}

// The beginnings of the URLs of stored files.
const (
	publicURL  = "/files/"
	privateURL = "/private/files/"
)

func urlOf(name string, private bool) string {
	if private {
		return privateURL + name
	}
	return publicURL + name
}

// stored reports whether a URL is that of a stored file, and its privacy.
func stored(url string) (private, ok bool) {
	switch {
	case strings.HasPrefix(url, publicURL):
		return false, true
	case strings.HasPrefix(url, privateURL):
		return true, true
	}
	return false, false
}
