// Package schema checks the arguments of a method against what its manifest
// declares: the part of JSON Schema named in sdk/abi/manifest.md.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Schema is a JSON Schema ready for use. It is immutable.
type Schema struct {
	never      bool     // the schema false
	types      []string // empty: any
	properties map[string]*Schema
	required   []string
	additional *Schema // nil: anything
	items      *Schema
	enum       []string // values in canonical form
	pattern    *regexp.Regexp
	bounds     bounds
}

// bounds are the keywords that compare a number; nil ones do not.
type bounds struct {
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength *int     `json:"minLength"`
	MaxLength *int     `json:"maxLength"`
	MinItems  *int     `json:"minItems"`
	MaxItems  *int     `json:"maxItems"`
}

// keywords is a schema as written. Other keywords are not checked.
type keywords struct {
	bounds
	Type       json.RawMessage            `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Additional json.RawMessage            `json:"additionalProperties"`
	Items      json.RawMessage            `json:"items"`
	Enum       []any                      `json:"enum"`
	Pattern    string                     `json:"pattern"`
}

// Error is what is wrong with a schema.
type Error struct {
	At   string // a JSON pointer into it
	Text string
}

func (e *Error) Error() string {
	if e.At == "" {
		return e.Text
	}
	return "at " + e.At + ": " + e.Text
}

// maxDepth bounds how deep a schema nests.
const maxDepth = 32

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// Compile reads a schema. No text is the schema that admits everything, nil.
func Compile(text json.RawMessage) (*Schema, error) { return compile(text, "", 0) }

func compile(text json.RawMessage, at string, depth int) (*Schema, error) {
	fail := func(format string, args ...any) (*Schema, error) {
		return nil, &Error{At: at, Text: fmt.Sprintf(format, args...)}
	}
	switch trimmed := strings.TrimSpace(string(text)); {
	case trimmed == "", trimmed == "true":
		return nil, nil
	case trimmed == "false":
		return &Schema{never: true}, nil
	case trimmed[0] != '{':
		return fail("expected a JSON Schema, an object")
	case depth > maxDepth:
		return fail("nested too deep")
	}
	var k keywords
	if err := json.Unmarshal(text, &k); err != nil {
		return fail("%v", err)
	}
	s := &Schema{required: k.Required, bounds: k.bounds}
	var err error
	if s.types, err = typesOf(k.Type); err != nil {
		return fail("%v", err)
	}
	if k.Pattern != "" {
		if s.pattern, err = regexp.Compile(k.Pattern); err != nil {
			return fail("pattern: %v", err)
		}
	}
	for _, v := range k.Enum {
		s.enum = append(s.enum, canonical(v))
	}
	if s.additional, err = compile(k.Additional, at+"/additionalProperties", depth+1); err != nil {
		return nil, err
	}
	if s.items, err = compile(k.Items, at+"/items", depth+1); err != nil {
		return nil, err
	}
	s.properties = make(map[string]*Schema, len(k.Properties))
	for name, sub := range k.Properties {
		if s.properties[name], err = compile(sub, at+"/properties/"+name, depth+1); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// typesOf reads the keyword type: a name or a list of names.
func typesOf(text json.RawMessage) (types []string, err error) {
	if text == nil {
		return nil, nil
	}
	var one string
	if json.Unmarshal(text, &one) == nil {
		types = []string{one}
	} else if err := json.Unmarshal(text, &types); err != nil {
		return nil, fmt.Errorf("type: expected a name or a list of names")
	}
	for _, name := range types {
		if !slices.Contains(typeNames, name) {
			return nil, fmt.Errorf("type: expected one of %s, found %q", strings.Join(typeNames, ", "), name)
		}
	}
	return types, nil
}

// canonical is a form in which equal values are equal text.
func canonical(v any) string {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			v = f
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
