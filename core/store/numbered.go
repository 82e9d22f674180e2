package store

import (
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
)

// Names of autoincrement DocTypes are digits in a column of text, as every name
// is: links hold them, and so do keys. Of two numbers without zeros in front the
// longer is the greater, so that they compare by length first; a cast would fail
// over one name that is no number.

// numeric reports whether a term orders numbered names.
func numeric(t term, f *doctype.Field) bool {
	if !f.Numbered {
		return false
	}
	switch t.op {
	case less, greater, atMost, atLeast, ranging:
		return true
	}
	return false
}

// numericArgs puts before each value its length. Names begin at 1, so whatever
// is below counts as nothing.
func numericArgs(args []any) []any {
	pairs := make([]any, 0, 2*len(args))
	for _, arg := range args {
		text, _ := arg.(string)
		if len(text) > 0 && text[0] == '-' {
			text = ""
		}
		pairs = append(pairs, int64(len(text)), text)
	}
	return pairs
}

// byNumber is a numbered name as it compares.
func byNumber(operand schema.QueryAppender) schema.QueryAppender {
	return expr("(LENGTH(?), ?)", operand, operand)
}

// extreme is the least or greatest of numbered names, as text again.
func extreme(function string, operand schema.QueryAppender) schema.QueryAppender {
	return expr("CAST("+function+"(CAST(? AS bigint)) AS text)", operand)
}
