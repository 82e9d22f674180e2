package typescript

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What a schema becomes that says nothing, or too much.
const (
	anything  = "unknown"
	anyObject = "{ [name: string]: unknown }"
)

// How much of a schema is written out. What is beyond is unknown to the types, and
// nothing else.
const (
	deepest = 12  // schemas inside of one another
	widest  = 400 // schemas in all, of a method or a field
	longest = 200 // values that are listed
)

// schemaType is the type of what a JSON Schema (draft 2020-12) allows, as well as
// TypeScript can say it.
func (w *writer) schemaType(schema any) string {
	c := &converter{types: w.types, left: widest}
	return c.of(schema, 0)
}

// converter turns one schema into a type.
type converter struct {
	types map[string]string
	left  int
}

func (c *converter) of(v any, depth int) string {
	schema, ok := v.(map[string]any)
	if c.left--; !ok || depth > deepest || c.left < 0 {
		if v == false {
			return "never"
		}
		return anything
	}
	if ref, ok := schema["$ref"].(string); ok {
		key, local := strings.CutPrefix(ref, "#/components/schemas/")
		if name := c.types[key]; local && name != "" && key != "framework.Error" {
			return name
		}
		return anything
	}
	if value, ok := schema["const"]; ok {
		return literal(value)
	}
	if values, ok := schema["enum"].([]any); ok && len(values) <= longest {
		return union(values, literal)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if options, ok := schema[key].([]any); ok && len(options) > 0 {
			return union(options, func(v any) string { return c.of(v, depth+1) })
		}
	}
	if parts, ok := schema["allOf"].([]any); ok && len(parts) > 0 {
		types := make([]string, len(parts))
		for i, part := range parts {
			types[i] = "(" + c.of(part, depth+1) + ")"
		}
		return strings.Join(types, " & ")
	}
	switch kind := schema["type"].(type) {
	case string:
		return c.kind(kind, schema, depth)
	case []any:
		return union(kind, func(v any) string { text, _ := v.(string); return c.kind(text, schema, depth) })
	}
	if schema["properties"] != nil {
		return c.kind("object", schema, depth)
	}
	return anything
}

func (c *converter) kind(kind string, schema map[string]any, depth int) string {
	switch kind {
	case "string", "boolean", "null", "number":
		return kind
	case "integer":
		return "number"
	case "array":
		return c.array(schema, depth)
	case "object":
		return c.object(schema, depth)
	}
	return anything
}

func (c *converter) array(schema map[string]any, depth int) string {
	if parts, ok := schema["prefixItems"].([]any); ok && len(parts) <= longest {
		types := make([]string, len(parts))
		for i, part := range parts {
			types[i] = c.of(part, depth+1)
		}
		return "[" + strings.Join(append(types, "..."+anything+"[]"), ", ") + "]"
	}
	items, given := schema["items"]
	if !given {
		return anything + "[]"
	}
	of := c.of(items, depth+1)
	if strings.ContainsAny(of, "|& ") {
		of = "(" + of + ")"
	}
	return of + "[]"
}

func (c *converter) object(schema map[string]any, depth int) string {
	properties, _ := schema["properties"].(map[string]any)
	more, open := schema["additionalProperties"]
	open = open && more != false
	if len(properties) == 0 {
		switch {
		case open:
			return "{ [name: string]: " + c.of(more, depth+1) + " }"
		case more == false:
			return "{ [name: string]: never }"
		}
		return anyObject
	}
	required, _ := schema["required"].([]any)
	var members []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		mark := "?: "
		if slices.Contains(required, any(name)) {
			mark = ": "
		}
		members = append(members, property(name)+mark+c.of(properties[name], depth+1))
	}
	if open {
		members = append(members, "[name: string]: "+anything)
	}
	return "{ " + strings.Join(members, "; ") + " }"
}

// union is one of several types, each once.
func union(values []any, typeOf func(any) string) string {
	var types []string
	for _, v := range values {
		if t := typeOf(v); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	switch {
	case len(types) == 0:
		return "never"
	case slices.Contains(types, anything):
		return anything
	}
	return strings.Join(types, " | ")
}

// literals is the union of texts; never without any.
func literals(texts []string) string {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return union(values, literal)
}

// literal is the type of one value. Objects and lists have none.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quote(v)
	case json.Number:
		if n, err := strconv.ParseFloat(v.String(), 64); err == nil && n == float64(int64(n)) && -1<<53 < n && n < 1<<53 {
			return strconv.FormatInt(int64(n), 10)
		}
		return "number"
	}
	return anything
}
