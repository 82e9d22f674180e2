package typescript

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// identifier makes the name of a type of any text: letters and digits of ASCII, each
// word with a capital.
func identifier(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
	var b strings.Builder
	for _, word := range words {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "Type" + name
	}
	if len(name) > 100 {
		name = name[:100]
	}
	return name
}

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// property is a name as a member is written: quoted unless it is a plain word.
func property(name string) string {
	for i, r := range name {
		if !isWord(r) && r != '_' || i == 0 && '0' <= r && r <= '9' {
			return quote(name)
		}
	}
	if name == "" {
		return quote(name)
	}
	return name
}

// quote is a text as TypeScript reads it back. Whatever is not plainly seen is
// escaped, so that what an editor shows is what a compiler reads.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case hidden(r) || r == '<':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// hidden reports whether a rune is not shown as itself: control characters, breaks of
// lines, marks that turn the direction of text round.
func hidden(r rune) bool {
	return r != ' ' && !strconv.IsPrint(r) || unicode.Is(unicode.Cf, r)
}

// commentText is a text as a comment may hold it: one line that does not end it.
func commentText(text string) string {
	const most = 300 // characters
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			b.WriteString("...")
			break
		}
		if hidden(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	text = strings.Join(strings.Fields(b.String()), " ")
	return strings.ReplaceAll(text, "*/", "* /")
}
