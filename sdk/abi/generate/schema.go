package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Schema is the JSON Schema of a request, an answer or a member of one, as far as
// code is made of it. Its properties keep the order they are written in.
type Schema struct {
	Ref         string
	Type        string
	Description string
	Required    []string
	Enum        []string
	Minimum     *int
	Default     json.RawMessage
	Items       *Schema
	Properties  []Property
}

// Property is a member of an object.
type Property struct {
	Name     string
	Required bool
	Schema   Schema
}

// UnmarshalJSON reads a schema.
func (s *Schema) UnmarshalJSON(text []byte) error {
	var raw struct {
		Ref         string          `json:"$ref"`
		Type        string          `json:"type"`
		Description string          `json:"description"`
		Required    []string        `json:"required"`
		Enum        []string        `json:"enum"`
		Minimum     *int            `json:"minimum"`
		Default     json.RawMessage `json:"default"`
		Items       *Schema         `json:"items"`
		Properties  json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*s = Schema{
		Ref: raw.Ref, Type: raw.Type, Description: raw.Description, Required: raw.Required, Enum: raw.Enum,
		Minimum: raw.Minimum, Default: raw.Default, Items: raw.Items,
	}
	if len(raw.Properties) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw.Properties))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		p := Property{Name: name.(string)}
		if err := d.Decode(&p.Schema); err != nil {
			return err
		}
		p.Required = slices.Contains(s.Required, p.Name)
		s.Properties = append(s.Properties, p)
	}
	return nil
}

// Shape is what the values of a schema are, in the words by which the languages
// have a type for each: text, flag, number, texts, filters, headers, object, any
// object; record, one whose members are known; objects, value, anything; nothing.
// It is empty for a schema of which no type can be made.
func (s Schema) Shape() string {
	switch {
	case s.Ref == "#/types/document":
		return "object"
	case s.Ref == "#/types/filters":
		return "filters"
	case s.Ref == "#/types/headers":
		return "headers"
	case s.Type == "array" && s.Items != nil && s.Items.Type == "string":
		return "texts"
	case s.Type == "array" && s.Items != nil && s.Items.Type == "object":
		return "objects"
	case s.Type == "object" && len(s.Properties) > 0:
		return "record"
	}
	return map[string]string{"string": "text", "boolean": "flag", "integer": "number", "object": "object", "null": "nothing", "": "value"}[s.Type]
}

// Maybe reports whether a number has to say apart from its value whether it is
// there: zero is a value of its own, and not what holds without one.
func (p Property) Maybe() bool {
	zero := p.Schema.Minimum == nil || *p.Schema.Minimum <= 0
	return p.Schema.Shape() == "number" && !p.Required && zero && string(p.Schema.Default) != "0"
}

// typed refuses what no language could have a type for.
func (cp Capability) typed() error {
	for _, p := range cp.Request.Properties {
		switch p.Schema.Shape() {
		case "text", "flag", "number", "texts", "filters", "headers", "object", "value":
		default:
			return fmt.Errorf("no SDK has a type for %s of the request", p.Name)
		}
	}
	if cp.Answer.Shape() == "" {
		return fmt.Errorf("no SDK has a type for the answer")
	}
	for _, p := range cp.Answer.Properties {
		switch p.Schema.Shape() {
		case "text", "flag", "number", "texts", "headers", "object", "value":
		default:
			return fmt.Errorf("no SDK has a type for %s of the answer", p.Name)
		}
	}
	return nil
}
