package doctype

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"armature/core/fault"
)

// Coerce turns a value as JSON gave it (string, bool, nil, json.Number,
// float64, int64, []any, map[string]any) into the canonical value of the field.
// A value the field's type cannot hold is a fault; an absent number is 0. zone
// is the site's: a datetime with an offset is moved into it.
func Coerce(f *Field, v any, zone *time.Location) (any, error) {
	switch f.Kind {
	case Text:
		return CoerceText(f, v)
	case Int:
		return CoerceInt(f, v)
	case Check:
		n, err := CoerceInt(f, v)
		if n, ok := n.(int64); ok && n != 0 {
			return int64(1), err
		}
		return n, err
	case Float:
		return coerceFloat(f, v)
	case Datetime, Date, Time:
		return coerceTime(f, v, zone)
	case JSON:
		return coerceJSON(f, v)
	}
	return nil, fault.Invalid("", "%s holds no value", f.Title())
}

// Title is the label, or the name of a field without one.
func (f *Field) Title() string {
	if f.Label != "" {
		return f.Label
	}
	return f.Name
}

// CoerceText is the text of a text, a number or a bool, within the field's
// length; nil stays nil.
func CoerceText(f *Field, v any) (any, error) {
	var s string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		s = v
	case json.Number:
		s = v.String()
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	case int64:
		s = strconv.FormatInt(v, 10)
	case bool:
		s = "0"
		if v {
			s = "1"
		}
	default:
		return nil, fault.Invalid("DataError", "%s must be text", f.Title())
	}
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return nil, fault.Invalid("DataError", "%s holds bytes that are not text", f.Title())
	}
	if most := f.MaxLength(); most > 0 && len(s) > most && utf8.RuneCountInString(s) > most {
		return nil, fault.Invalid("CharacterLengthExceededError",
			"%s: the value is too big, at most %d characters are allowed", f.Title(), most)
	}
	return s, nil
}

// CoerceInt is the whole number a value stands for; nil and empty text are 0.
func CoerceInt(f *Field, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return int64(0), nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v), nil
		}
	case json.Number:
		return parseInt(f, v.String())
	case string:
		return parseInt(f, strings.TrimSpace(v))
	}
	return nil, fault.Invalid("", "%s must be a whole number", f.Title())
}

func parseInt(f *Field, s string) (any, error) {
	if s == "" {
		return int64(0), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	// 3.0 and 1e3 are whole numbers too.
	if x, err := strconv.ParseFloat(s, 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return int64(x), nil
	}
	return nil, fault.Invalid("", "%s must be a whole number", f.Title())
}

func coerceFloat(f *Field, v any) (any, error) {
	var x float64
	switch v := v.(type) {
	case nil:
		return float64(0), nil
	case bool:
		if v {
			x = 1
		}
	case int64:
		x = float64(v)
	case float64:
		x = v
	case json.Number:
		n, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return nil, fault.Invalid("", "%s must be a number", f.Title())
		}
		x = n
	case string:
		if v = strings.TrimSpace(v); v == "" {
			return float64(0), nil
		}
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil, fault.Invalid("", "%s must be a number", f.Title())
		}
		x = n
	default:
		return nil, fault.Invalid("", "%s must be a number", f.Title())
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fault.Invalid("", "%s must be a finite number", f.Title())
	}
	if adjust := f.typ().adjust; adjust != nil {
		x = adjust(x)
	}
	if f.Precision > 0 && f.Precision <= 9 {
		x = roundDecimal(x, f.Precision)
	}
	if x == 0 {
		x = 0 // no negative zero: the databases print it differently
	}
	return x, nil
}

func coerceJSON(f *Field, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if v == "" {
			return nil, nil
		}
		if strings.IndexByte(v, 0) >= 0 || !utf8.ValidString(v) || !json.Valid([]byte(v)) {
			return nil, fault.Invalid("", "%s must be JSON", f.Title())
		}
		return v, nil
	default:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, fault.Invalid("", "%s must be JSON", f.Title())
		}
		return strings.TrimSuffix(buf.String(), "\n"), nil
	}
}
