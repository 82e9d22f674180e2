package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isName reports whether s can be a field: letters, digits and underscore.
func isName(s string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// isTable reports whether s can be a DocType: a field's characters, spaces and
// hyphens inside, and letters of any script.
func isTable(s string) bool {
	if s == "" || utf8.RuneCountInString(s) > MaxName || s != strings.TrimSpace(s) {
		return false
	}
	for _, r := range s {
		if r != '_' && r != ' ' && r != '-' && (r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}

// parseRef reads a field in one of the forms of the reference (section 1.8):
// field, `field`, table.field, `tabDocType`.`field`, link_field.other.
func parseRef(s string) (Ref, bool) {
	first, rest, quoted, ok := cutPart(strings.TrimSpace(s))
	if !ok {
		return Ref{}, false
	}
	if rest == "" {
		return Ref{Name: first}, isName(first)
	}
	name, rest, _, ok := cutPart(rest[1:])
	if !ok || rest != "" || !isName(name) {
		return Ref{}, false
	}
	table := tableName(first, quoted)
	return Ref{Table: table, Name: name}, isTable(table)
}

// cutPart takes one part, plain or in backquotes, off the front of s. rest is
// empty or begins with a dot.
func cutPart(s string) (part, rest string, quoted, ok bool) {
	if inner, isQuoted := strings.CutPrefix(s, "`"); isQuoted {
		part, rest, ok = strings.Cut(inner, "`")
		return part, rest, true, ok && (rest == "" || rest[0] == '.')
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i:], false, true
	}
	return s, "", false, true
}

// tableName takes the prefix "tab" off the name of a table. Outside backquotes
// it is only one where a capital follows: a link field may be called "table".
func tableName(s string, quoted bool) string {
	name, ok := strings.CutPrefix(s, "tab")
	if !ok {
		return s
	}
	if r, _ := utf8.DecodeRuneInString(name); quoted || unicode.IsUpper(r) {
		return name
	}
	return s
}
