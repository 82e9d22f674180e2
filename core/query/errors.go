package query

import (
	"unicode/utf8"

	"armature/core/fault"
)

// malformed is the error for an argument of the wrong form.
func malformed(format string, args ...any) error {
	return fault.Invalid("DataError", format, args...)
}

// refused is the error for an argument whose form is right and whose meaning is
// not allowed.
func refused(format string, args ...any) error {
	return fault.Invalid("", format, args...)
}

// notPermitted is the error for what cannot be a field: SQL, functions, quotes.
func notPermitted(name string) error {
	return malformed("Field not permitted in query: %s", shorten(name))
}

// shorten keeps an echo of the input from being as long as the input.
func shorten(s string) string {
	for i, n := 0, 0; i < len(s); n++ {
		if n == MaxName {
			return s[:i] + "..."
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s
}
