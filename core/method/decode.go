package method

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"armature/core/fault"
)

// Bounds of JSON from outside. Decoded values take some fifty times the bytes of
// the tersest text, so their number is bounded too, not only the size of the
// request.
const (
	maxNesting = 64
	maxValues  = 500_000
)

// decode decodes JSON text from outside.
func decode(text []byte) (any, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	return unchecked(text)
}

func unchecked(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// check refuses text that is not JSON in UTF-8, that is nested too deep or holds
// too many values, and strings with a NUL, which no database keeps. All of it is
// a DataError; whoever asked says what the text was.
func check(text []byte) error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return fault.Invalid("DataError", "not valid JSON")
	}
	depth, values, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inString {
			switch c {
			case '"':
				inString = false
			case '\\':
				i++
				if bytes.HasPrefix(text[i:], []byte("u0000")) {
					return fault.Invalid("DataError", "a text holds a NUL character")
				}
			}
			continue
		}
		switch c {
		case '"':
			inString = true
		case '[', '{':
			depth++
			values++
		case ']', '}':
			depth--
		case ',':
			values++
		}
		if depth > maxNesting {
			return fault.Invalid("DataError", "nested more than %d deep", maxNesting)
		}
	}
	if values > maxValues {
		return fault.Invalid("DataError", "more than %d values", maxValues)
	}
	return nil
}

func looksLikeObject(text string) bool {
	trimmed := bytes.TrimSpace([]byte(text))
	return len(trimmed) > 0 && trimmed[0] == '{'
}
