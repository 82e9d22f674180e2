package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

// TypeError is the exc_type of a value of another type than declared.
const TypeError = "FrameworkTypeError"

// Check checks a value as encoding/json decodes it with UseNumber. The error is a
// Validation fault that names the place.
func (s *Schema) Check(v any) error { return s.check(v, "") }

func (s *Schema) check(v any, at string) error {
	switch {
	case s == nil:
		return nil
	case s.never:
		return refuse(at, "is not allowed")
	case len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return is(v, t) }):
		err := refuse(at, "must be of type %s, not %s", strings.Join(s.types, " or "), typeOf(v))
		err.Type = TypeError
		return err
	case s.enum != nil && !slices.Contains(s.enum, canonical(v)):
		return refuse(at, "must be one of %s", strings.Join(s.enum, ", "))
	}
	switch v := v.(type) {
	case map[string]any:
		return s.checkObject(v, at)
	case []any:
		return s.checkArray(v, at)
	case string:
		return s.checkText(v, at)
	default:
		if n, ok := number(v); ok {
			return s.checkNumber(n, at)
		}
	}
	return nil
}

func (s *Schema) checkObject(v map[string]any, at string) error {
	for _, name := range s.required {
		if _, ok := v[name]; !ok {
			return refuse(join(at, name), "is missing")
		}
	}
	for name, value := range v {
		sub, declared := s.properties[name]
		if !declared {
			sub = s.additional
		}
		if err := sub.check(value, join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkArray(v []any, at string) error {
	if n := s.bounds.MinItems; n != nil && len(v) < *n {
		return refuse(at, "must have at least %d entries", *n)
	}
	if n := s.bounds.MaxItems; n != nil && len(v) > *n {
		return refuse(at, "must have at most %d entries", *n)
	}
	for i, value := range v {
		if err := s.items.check(value, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkText(v, at string) error {
	length := utf8.RuneCountInString(v)
	if n := s.bounds.MinLength; n != nil && length < *n {
		return refuse(at, "must have at least %d characters", *n)
	}
	if n := s.bounds.MaxLength; n != nil && length > *n {
		return refuse(at, "must have at most %d characters", *n)
	}
	if s.pattern != nil && !s.pattern.MatchString(v) {
		return refuse(at, "must match %s", s.pattern)
	}
	return nil
}

func (s *Schema) checkNumber(v float64, at string) error {
	if n := s.bounds.Minimum; n != nil && v < *n {
		return refuse(at, "must be at least %v", *n)
	}
	if n := s.bounds.Maximum; n != nil && v > *n {
		return refuse(at, "must be at most %v", *n)
	}
	return nil
}

// refuse names the place before the reason.
func refuse(at, format string, args ...any) *fault.Error {
	if at == "" {
		at = "arguments"
	}
	return fault.Invalid("", "%s: %s", at, fmt.Sprintf(format, args...))
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// is reports whether the value is of the named type; a number without a fraction
// is an integer too.
func is(v any, name string) bool {
	actual := typeOf(v)
	return actual == name || actual == "integer" && name == "number"
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		if n, ok := number(v); ok && n == math.Trunc(n) && !math.IsInf(n, 0) {
			return "integer"
		}
		return "number"
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}
