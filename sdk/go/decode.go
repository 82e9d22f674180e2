package armature

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep arrays and objects nest, because each level is a level
// of the Go stack.
const maxDepth = 500

var (
	errSyntax = errors.New("not valid JSON")
	errDepth  = errors.New("JSON nested too deep")
	errType   = errors.New("JSON of another type than asked for")
)

// decoder reads JSON text. Strings without escapes are parts of text, so a whole
// document costs one copy of its bytes.
type decoder struct {
	text  string
	at    int
	depth int
}

// decodeValue reads one value and nothing after it.
func decodeValue(data []byte) (any, error) {
	d := decoder{text: string(data)}
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	if d.space(); d.at != len(d.text) {
		return nil, errSyntax
	}
	return v, nil
}

func decodeAs[T any](data []byte) (t T, err error) {
	v, err := decodeValue(data)
	if err != nil || v == nil {
		return t, err
	}
	t, ok := v.(T)
	if !ok {
		return t, errType
	}
	return t, nil
}

func decodeDoc(data []byte, doc *Doc) error {
	m, err := decodeAs[map[string]any](data)
	if err == nil {
		*doc = m
	}
	return err
}

func decodeDocs(data []byte) ([]Doc, error) {
	rows, err := decodeAs[[]any](data)
	if err != nil || rows == nil {
		return nil, err
	}
	docs := make([]Doc, len(rows))
	for i, row := range rows {
		m, ok := row.(map[string]any)
		if !ok {
			return nil, errType
		}
		docs[i] = m
	}
	return docs, nil
}

func decodeEvent(data []byte, e *Event[Doc]) error {
	m, err := decodeAs[map[string]any](data)
	if err != nil {
		return err
	}
	e.Event, _ = m["event"].(string)
	doc, _ := m["doc"].(map[string]any)
	e.Doc = doc
	if before, ok := m["before"].(map[string]any); ok {
		stored := Doc(before)
		e.Before = &stored
	}
	return nil
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\n', '\t', '\r':
			d.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte there, 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *decoder) value() (any, error) {
	switch c := d.next(); {
	case c == '{':
		return d.object()
	case c == '[':
		return d.array()
	case c == '"':
		return d.str()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	switch {
	case d.word("true"):
		return true, nil
	case d.word("false"):
		return false, nil
	case d.word("null"):
		return nil, nil
	}
	return nil, errSyntax
}

func (d *decoder) word(w string) bool {
	if len(d.text)-d.at < len(w) || d.text[d.at:d.at+len(w)] != w {
		return false
	}
	d.at += len(w)
	return true
}

// enter steps over an opening bracket; empty is true if the closing one follows,
// which it steps over as well.
func (d *decoder) enter(closing byte) (empty bool, err error) {
	d.at++
	if d.depth++; d.depth > maxDepth {
		return false, errDepth
	}
	if d.next() == closing {
		d.at++
		d.depth--
		return true, nil
	}
	return false, nil
}

// more steps over a comma or the closing bracket.
func (d *decoder) more(closing byte) (bool, error) {
	c := d.next()
	d.at++
	switch c {
	case ',':
		return true, nil
	case closing:
		d.depth--
		return false, nil
	}
	return false, errSyntax
}

// spare is an empty map with room for a few members. It is made before the first
// call, so that the first object that a call decodes, its arguments, takes nothing
// of the allocator: that would be half of the work of a small method.
var spare map[string]any

func (d *decoder) object() (map[string]any, error) {
	m := spare
	if spare = nil; m == nil {
		m = map[string]any{}
	}
	if empty, err := d.enter('}'); empty || err != nil {
		return m, err
	}
	for {
		if d.next() != '"' {
			return nil, errSyntax
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if d.next() != ':' {
			return nil, errSyntax
		}
		d.at++
		if m[key], err = d.value(); err != nil {
			return nil, err
		}
		if more, err := d.more('}'); !more {
			return m, err
		}
	}
}

func (d *decoder) array() ([]any, error) {
	items := []any{}
	if empty, err := d.enter(']'); empty || err != nil {
		return items, err
	}
	for {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if more, err := d.more(']'); !more {
			return items, err
		}
	}
}

// number reads a whole number as int64 where it fits, any other as float64.
func (d *decoder) number() (any, error) {
	start := d.at
	whole := true
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c >= '0' && c <= '9' || c == '-' && d.at == start:
		case c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-':
			whole = false
		default:
			goto end
		}
	}
end:
	text := d.text[start:d.at]
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errSyntax
	}
	return f, nil
}

func (d *decoder) str() (string, error) {
	start := d.at + 1
	text := d.text
	i := start
	for i < len(text) && (plain[text[i]] || text[i] >= utf8.RuneSelf) {
		i++
	}
	switch {
	case i == len(text) || text[i] < ' ':
		return "", errSyntax
	case text[i] == '\\':
		return d.escaped(start, i)
	}
	d.at = i + 1
	return text[start:i], nil
}

// escaped reads a string whose first escape is at i.
func (d *decoder) escaped(start, i int) (string, error) {
	b := append(make([]byte, 0, 2*(i-start)+32), d.text[start:i]...)
	for i < len(d.text) {
		c := d.text[i]
		i++
		switch {
		case c == '"':
			d.at = i
			return string(b), nil
		case c < ' ':
			return "", errSyntax
		case c != '\\':
			b = append(b, c)
			continue
		case i == len(d.text):
			return "", errSyntax
		}
		c = d.text[i]
		i++
		if c == 'u' {
			r, next := d.escapedRune(i)
			if next < 0 {
				return "", errSyntax
			}
			b, i = utf8.AppendRune(b, r), next
			continue
		}
		plain, ok := unescape(c)
		if !ok {
			return "", errSyntax
		}
		b = append(b, plain)
	}
	return "", errSyntax
}

// escapedRune reads the digits of \uXXXX at i and the other half of a surrogate
// pair; a half without its other is the replacement character. next is -1 if
// these are no digits.
func (d *decoder) escapedRune(i int) (r rune, next int) {
	r, ok := d.hex4(i)
	if !ok {
		return 0, -1
	}
	i += 4
	if !utf16.IsSurrogate(r) {
		return r, i
	}
	if i+2 <= len(d.text) && d.text[i:i+2] == `\u` {
		if low, ok := d.hex4(i + 2); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, i + 6
			}
		}
	}
	return utf8.RuneError, i
}

func (d *decoder) hex4(i int) (rune, bool) {
	if i+4 > len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[i:i+4], 16, 16)
	return rune(n), err == nil
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	}
	return 0, false
}
