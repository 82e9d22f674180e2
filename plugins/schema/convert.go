package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Convert returns the arguments with texts turned into the types that their
// properties declare, because a query string and a form know nothing but text.
// What cannot be converted stays as it is, for Check to refuse. changed is false
// when the arguments are returned as they were.
func (s *Schema) Convert(args map[string]any) (converted map[string]any, changed bool) {
	if s == nil {
		return args, false
	}
	for name, v := range args {
		text, ok := v.(string)
		if !ok {
			continue
		}
		got, ok := s.properties[name].fromText(text)
		if !ok {
			continue
		}
		if !changed {
			converted, changed = maps.Clone(args), true
		}
		converted[name] = got
	}
	if !changed {
		return args, false
	}
	return converted, true
}

// fromText is the value a text stands for where text is not what is declared.
func (s *Schema) fromText(text string) (any, bool) {
	if s == nil || len(s.types) == 0 || s.admits("string") {
		return nil, false
	}
	if s.admits("boolean") {
		switch strings.ToLower(text) {
		case "true", "1":
			return true, true
		case "false", "0", "":
			return false, true
		}
	}
	if text == "" && s.admits("null") {
		return nil, true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || strings.TrimSpace(text[dec.InputOffset():]) != "" {
		return nil, false
	}
	return v, slices.ContainsFunc(s.types, func(t string) bool { return is(v, t) })
}

func (s *Schema) admits(name string) bool { return slices.Contains(s.types, name) }
