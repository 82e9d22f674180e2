package query

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Flag reads a yes-or-no argument: True, true, 1, yes and their opposites as
// text, a JSON boolean, a number. Anything else is otherwise.
func Flag(v any, otherwise bool) bool {
	switch v := v.(type) {
	case bool:
		return v
	case json.Number:
		return v != "0"
	case float64:
		return v != 0
	case int:
		return v != 0
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes":
			return true
		case "false", "0", "no":
			return false
		}
	}
	return otherwise
}

// fromText decodes an argument that came as JSON text; the argument is named in
// the error.
func fromText(name, text string) (any, error) {
	if len(text) > MaxText {
		return nil, malformed("%s is longer than %d bytes", name, MaxText)
	}
	v, ok := decode(text)
	if !ok {
		return nil, malformed("%s is not valid JSON", name)
	}
	return v, nil
}

func decode(text string) (v any, ok bool) {
	if v, ok := plain(text); ok {
		return v, true
	}
	return decodeAny(text)
}

func decodeAny(text string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}

// list reads an argument that must be a JSON array, as text or as a value. An
// absent one, and empty text, is nil.
func list(name string, v any) ([]any, error) {
	if text, ok := v.(string); ok {
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		var err error
		if v, err = fromText(name, text); err != nil {
			return nil, err
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	}
	return nil, malformed("%s must be a JSON array", name)
}

// scalar returns a single value in the form a Cond holds it.
func scalar(v any) (any, bool) {
	switch v := v.(type) {
	case nil, bool, json.Number:
		return v, true
	case string:
		return v, utf8.ValidString(v) && strings.IndexByte(v, 0) < 0
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), v == v && v-v == 0
	case int:
		return json.Number(strconv.Itoa(v)), true
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), true
	}
	return nil, false
}
