package armature

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendValue appends v if it is made of plain values only; otherwise ok is
// false and b is as it was.
func appendValue(b []byte, v any) (out []byte, ok bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case string:
		return appendString(b, v), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int:
		return strconv.AppendInt(b, int64(v), 10), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case float64:
		// Infinities have no JSON: encoding/json says so properly.
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return b, false
		}
		return appendFloat(b, v), true
	case Doc:
		return appendObject(b, v)
	case map[string]any:
		return appendObject(b, v)
	case []any:
		return appendArray(b, v)
	case []Doc:
		return appendArray(b, v)
	case []string:
		return appendArray(b, v)
	}
	return b, false
}

// field is a member of an object. Collecting values beside the names spares
// looking each of them up again after sorting.
type field struct {
	name  string
	value any
}

// appendObject writes the members in the order of their names, so that the same
// document is always the same text.
func appendObject(b []byte, m map[string]any) ([]byte, bool) {
	if m == nil {
		return append(b, "null"...), true
	}
	var few [16]field
	members := few[:0]
	for name, value := range m {
		members = append(members, field{name, value})
	}
	slices.SortFunc(members, func(x, y field) int { return strings.Compare(x.name, y.name) })
	start := len(b)
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, m.name), ':')
		var err error
		if b, err = encode(b, m.value); err != nil {
			return b[:start], false
		}
	}
	return append(b, '}'), true
}

func appendArray[T any](b []byte, items []T) ([]byte, bool) {
	if items == nil {
		return append(b, "null"...), true
	}
	start := len(b)
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = encode(b, item); err != nil {
			return b[:start], false
		}
	}
	return append(b, ']'), true
}

// appendFloat writes the shortest text that reads back as f, without an exponent
// where a person would not write one.
func appendFloat(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 become the
// replacement character, as in encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		c := s[i]
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + 1
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// plain is the bytes that stand for themselves inside a JSON string.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
