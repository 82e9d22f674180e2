package doctype

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD; nothing but quotes, backslashes, control characters and the two line
// separators that break scripts is escaped.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b >= 0x20 && b != '"' && b != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch b {
			case '"', '\\':
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			i++
			start = i
			continue
		}
		if r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&15])
			i += size
			start = i
			continue
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendKey appends the field's name as a key of a JSON object.
func (f *Field) AppendKey(dst []byte) []byte { return append(dst, f.key...) }

// AppendKey appends the member of a JSON object that names the DocType.
func (d *DocType) AppendKey(dst []byte) []byte { return append(dst, d.key...) }

// AppendKey appends name as a key of a JSON object, with its colon.
func AppendKey(dst []byte, name string) []byte {
	return append(AppendString(dst, name), ':')
}

// AppendFloat appends a number as JSON: the shortest text that reads back
// equal, with a decimal point so that a Float stays a Float. NaN and infinities
// have no JSON and become null.
func AppendFloat(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	abs := math.Abs(v)
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	for _, c := range dst[n:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// AppendValue appends a canonical value of field f as JSON, in the forms of the
// reference (section 0.5).
func AppendValue(dst []byte, f *Field, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return AppendFloat(dst, v)
	case string:
		if f != nil {
			switch f.Kind {
			case Datetime:
				return appendDatetime(dst, f, v)
			case Time:
				return appendTime(dst, v)
			}
			if f.IsPassword() {
				return appendMasked(dst, v)
			}
			if f.Numbered {
				return append(dst, v...)
			}
		}
		return AppendString(dst, v)
	}
	return append(dst, "null"...)
}

// appendDatetime leaves the fraction out when it is zero, except for the
// standard fields, which always carry six digits (SPEC: Document).
func appendDatetime(dst []byte, f *Field, v string) []byte {
	const zeroFraction = ".000000"
	if n := len(v) - len(zeroFraction); !f.Standard && n > 0 && v[n:] == zeroFraction {
		v = v[:n]
	}
	return AppendString(dst, v)
}

// appendTime prints H:MM:SS[.ffffff]: the hour is not padded.
func appendTime(dst []byte, v string) []byte {
	if n := len(v) - len(".000000"); n > 0 && v[n:] == ".000000" {
		v = v[:n]
	}
	if len(v) > 1 && v[0] == '0' && v[1] != ':' {
		v = v[1:]
	}
	return AppendString(dst, v)
}

// appendMasked shows that a secret is stored, and nothing of it.
func appendMasked(dst []byte, v string) []byte {
	if v == "" {
		return append(dst, `""`...)
	}
	return append(dst, `"**********"`...)
}

// AppendRow appends the stored values of one document as the members of a JSON
// object, without the braces, ending with the doctype. values follow
// dt.Columns. Fields the view does not show are left out, and null ones unless
// the view keeps them.
func AppendRow(dst []byte, dt *DocType, values []any, view View) []byte {
	for i, f := range dt.Columns {
		v := values[i]
		if (v == nil && !view.WithNull) || !view.Shows(f) {
			continue
		}
		dst = append(dst, f.key...)
		dst = AppendValue(dst, f, v)
		dst = append(dst, ',')
	}
	return append(dst, dt.key...)
}

// AppendTableKey appends `,"table":[` and is followed by the rows and `]`.
func AppendTableKey(dst []byte, f *Field) []byte {
	dst = append(dst, ',')
	dst = append(dst, f.key...)
	return append(dst, '[')
}

// AppendJSON appends the document as a JSON object, its child tables included:
// arrays always, empty ones too.
func (d *Document) AppendJSON(dst []byte, view View) []byte {
	dst = append(dst, '{')
	dst = AppendRow(dst, d.Type, d.values, view)
	for _, t := range d.Type.Tables {
		if !view.Shows(t) {
			continue
		}
		dst = AppendTableKey(dst, t)
		for i, row := range d.rows[t.Name] {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = row.AppendJSON(dst, view)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
