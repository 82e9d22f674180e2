package main

import (
	"bytes"
	"encoding/json"
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
		Items       *Schema         `json:"items"`
		Properties  json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*s = Schema{Ref: raw.Ref, Type: raw.Type, Description: raw.Description, Required: raw.Required, Enum: raw.Enum, Items: raw.Items}
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
