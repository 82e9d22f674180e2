package query

import "encoding/json"

// plain reads JSON as nearly every client writes it: arrays, ASCII text without
// escapes, whole numbers, true, false and null. Whatever else the text holds,
// mistakes included, is for encoding/json, whose decoder takes three times as
// long and 1.5 kB for a list's arguments.
func plain(text string) (v any, ok bool) {
	r := plainReader{text: text}
	v, ok = r.value(maxPlainDepth)
	return v, ok && r.next() == 0 && r.at == len(text)
}

// maxPlainDepth is how deep arrays nest in what filters are made of.
const maxPlainDepth = 8

type plainReader struct {
	text string
	at   int
}

// next skips white space and returns the byte that follows; 0 at the end.
func (r *plainReader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (r *plainReader) value(depth int) (any, bool) {
	switch c := r.next(); {
	case c == '"':
		return r.string()
	case c == '[' && depth > 0:
		return r.array(depth - 1)
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	}
	return nil, false
}

func (r *plainReader) array(depth int) (any, bool) {
	r.at++
	list := make([]any, 0, 4)
	if r.next() == ']' {
		r.at++
		return list, true
	}
	for {
		v, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		c := r.next()
		r.at++
		switch c {
		case ']':
			return list, true
		case ',':
		default:
			return nil, false
		}
	}
}

func (r *plainReader) string() (any, bool) {
	from := r.at + 1
	for i := from; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return r.text[from:i], true
		case c == '\\' || c < ' ' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

func (r *plainReader) number() (any, bool) {
	from := r.at
	if r.text[r.at] == '-' {
		r.at++
	}
	digits := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	switch {
	case r.at == digits, r.text[digits] == '0' && r.at > digits+1:
		return nil, false
	case r.at < len(r.text) && (r.text[r.at] == '.' || r.text[r.at]|0x20 == 'e'):
		return nil, false
	}
	return json.Number(r.text[from:r.at]), true
}

func (r *plainReader) word(word string) bool {
	if len(r.text)-r.at < len(word) || r.text[r.at:r.at+len(word)] != word {
		return false
	}
	r.at += len(word)
	return true
}
