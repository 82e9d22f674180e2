package auth

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"

	"armature/core/fault"
)

// fold is what of a name counts when names are compared: compatibility forms and
// the case of letters do not.
func fold(name string) string { return strings.ToLower(norm.NFKC.String(strings.TrimSpace(name))) }

// cleanEmail makes the name of a user of an e-mail address, so that no two users
// look alike. Errors: InvalidEmailAddressError for what is no plain address, and
// for one that could be taken for another.
func cleanEmail(typed string) (string, error) {
	address := fold(typed)
	a, err := mail.ParseAddress(address)
	if err != nil || a.Address != address {
		return "", fault.Invalid("InvalidEmailAddressError", "%s is not the e-mail address of one person", typed)
	}
	local, domain := address[:strings.LastIndexByte(address, '@')], address[strings.LastIndexByte(address, '@')+1:]
	for _, part := range append(strings.Split(domain, "."), local) {
		if why := Ambiguous(part); why != "" {
			return "", fault.Invalid("InvalidEmailAddressError", "%s cannot be the name of a user: %s", typed, why)
		}
	}
	return address, nil
}

// cleanUsername is cleanEmail for the other name by which a user logs in.
func cleanUsername(typed string) (string, error) {
	name := fold(typed)
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '@' || r == '.' || r == ' ' }) {
		if why := Ambiguous(part); why != "" {
			return "", fault.Invalid("InvalidNameError", "%s cannot be a user name: %s", typed, why)
		}
	}
	return name, nil
}

// Ambiguous says why a word of a name, in lower case and NFKC, could be taken for another one;
// empty: it could not. What is invisible, or not made for names, is what RFC 8265
// (PRECIS, UsernameCaseMapped) forbids; the scripts are held apart as Unicode's
// UTS 39 does at its level "highly restrictive".
func Ambiguous(part string) string {
	ascii := strings.IndexFunc(part, func(r rune) bool { return r > unicode.MaxASCII }) < 0
	if ascii {
		if strings.ContainsFunc(part, func(r rune) bool { return r < '!' || r == 0x7f }) {
			return "it has spaces or control characters"
		}
		return ""
	}
	if mapped, err := precis.UsernameCaseMapped.String(part); err != nil || mapped != part {
		return "it has characters that are invisible or not for names"
	}
	if !oneScript(part) {
		return "it mixes letters of several scripts"
	}
	if strings.ContainsFunc(part, unicode.IsLetter) && !strings.ContainsFunc(part, func(r rune) bool {
		return r > unicode.MaxASCII && !strings.ContainsRune(looksLatin, r)
	}) {
		return "its letters look like those of another script"
	}
	return ""
}

// looksLatin are letters that in most typefaces are those of ASCII. A name that
// has no other beside ASCII cannot be told from one that is ASCII.
const looksLatin = "асԁеɡһіјӏоорԛѕᴜѵԝхуүᴢьӕ" + // Cyrillic, and Latin small capitals
	"αγικνορτυχω" + // Greek
	"ıȷɑɩⅼǃ" + // Latin
	"օսհոցզղ" // Armenian

// together are scripts that are written with one another.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

func oneScript(part string) bool {
	var scripts []string
	for _, r := range part {
		if s := scriptOf(r); s != "" && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	if len(scripts) < 2 {
		return true
	}
	return slices.ContainsFunc(together, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// scriptOf names the script of a letter; empty for what is common to all.
func scriptOf(r rune) string {
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "Unknown"
}
