// Package typescript makes a client in TypeScript of the OpenAPI document of a site
// (core/openapi): the types of what its caller may use, and one class that speaks to
// the site through fetch and nothing else.
//
// What a description says was written by others, on a server elsewhere perhaps. It
// gets into the source as quoted text, as the text of a comment, and as names of
// ASCII letters and digits; nothing of it is source by itself.
package typescript

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mark is how a file of a client begins.
const Mark = "// Made by `armature client ts`."

//go:embed client.ts
var client string

// description is what of an OpenAPI document the client goes by.
type description struct {
	OpenAPI    string                                `json:"openapi"`
	Info       struct{ Title, Version string }       `json:"info"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

// DocType is what a description says of a DocType beside its schema, under
// x-armature (core/openapi).
type DocType struct {
	Name        string   `json:"doctype"`
	Child       bool     `json:"child"`
	Single      bool     `json:"single"`
	Submittable bool     `json:"submittable"`
	Rights      []string `json:"rights"`
	Mandatory   []string `json:"mandatory"`
}

// Client makes the files of a client, by name. The same description makes the same
// bytes. Errors: a text that is no OpenAPI document.
func Client(openapi []byte) (map[string][]byte, error) {
	var d description
	decoder := json.NewDecoder(bytes.NewReader(openapi))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("read the description of the API: %w", err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.") {
		return nil, errors.New("read the description of the API: it is no OpenAPI document of version 3")
	}
	w := &writer{types: typeNames(d.Components.Schemas), schemas: d.Components.Schemas}
	w.line(0, Mark+" Do not change it: the next run writes it anew.")
	w.line(0, "// "+commentText("Of "+d.Info.Title+", version "+d.Info.Version+", as one user sees it."))
	w.docTypes()
	if err := w.methods(d.Paths); err != nil {
		return nil, err
	}
	head := Mark + " Do not change it: the next run writes it anew.\n"
	return map[string][]byte{"doctypes.ts": w.Bytes(), "armature.ts": []byte(head + client)}, nil
}

// typeNames gives every schema a name of its own that TypeScript takes: two that
// become one are told apart by a number, in the order of the schemas' names.
func typeNames(schemas map[string]any) map[string]string {
	names := make(map[string]string, len(schemas))
	taken := map[string]bool{"DocTypes": true, "Methods": true}
	for _, key := range slices.Sorted(maps.Keys(schemas)) {
		base := identifier(key)
		name := base
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", base, i)
		}
		names[key], taken[name] = name, true
	}
	return names
}

// writer collects the source of the types.
type writer struct {
	bytes.Buffer
	types   map[string]string // names of interfaces, by the key of their schema
	schemas map[string]any
}

func (w *writer) line(depth int, text string) {
	w.WriteString(strings.Repeat("  ", depth))
	w.WriteString(text)
	w.WriteByte('\n')
}

// comment writes a line for whoever hovers over what follows; nothing for no text.
func (w *writer) comment(depth int, text string) {
	if text = commentText(text); text != "" {
		w.line(depth, "/** "+text+" */")
	}
}

// docTypes writes an interface for each DocType, and the table of all that the
// caller has a right on.
func (w *writer) docTypes() {
	told := map[string]DocType{}
	for _, key := range slices.Sorted(maps.Keys(w.schemas)) {
		schema, _ := w.schemas[key].(map[string]any)
		dt, ok := docTypeOf(schema)
		if !ok {
			continue
		}
		told[key] = dt
		w.line(0, "")
		w.comment(0, dt.Name)
		w.line(0, "export interface "+w.types[key]+" {")
		w.fields(schema)
		w.line(0, "}")
	}
	w.line(0, "")
	w.comment(0, "The DocTypes, by name.")
	w.line(0, "export interface DocTypes {")
	seen := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(told)) {
		dt := told[key]
		if dt.Child || seen[dt.Name] {
			continue
		}
		seen[dt.Name] = true
		w.line(1, fmt.Sprintf("%s: { document: %s; rights: %s; mandatory: %s; single: %t };",
			quote(dt.Name), w.types[key], literals(dt.Rights), literals(dt.Mandatory), dt.Single))
	}
	w.line(0, "}")
}

func docTypeOf(schema map[string]any) (dt DocType, ok bool) {
	text, err := json.Marshal(schema["x-armature"])
	if err != nil || schema["x-armature"] == nil || json.Unmarshal(text, &dt) != nil {
		return dt, false
	}
	return dt, dt.Name != ""
}

// fields writes the members of a document. A number and a table always have a value,
// and so have the fields that the platform keeps; of others the value may be missing.
func (w *writer) fields(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, _ := properties[name].(map[string]any)
		title, _ := field["title"].(string)
		meaning, _ := field["description"].(string)
		w.comment(1, strings.Trim(title+". "+meaning, ". "))
		typ := w.schemaType(field)
		switch kind, _ := field["type"].(string); {
		case standard[name] || kind == "integer" || kind == "number" || kind == "array":
			w.line(1, property(name)+": "+typ+";")
		default:
			w.line(1, property(name)+"?: "+typ+" | null;")
		}
	}
}

// standard are the fields that every document has.
var standard = map[string]bool{
	"name": true, "owner": true, "creation": true, "modified": true, "modified_by": true, "docstatus": true, "idx": true, "doctype": true,
}

// methods writes the table of the methods.
func (w *writer) methods(paths map[string]map[string]json.RawMessage) error {
	w.line(0, "")
	w.comment(0, "The methods, by path.")
	w.line(0, "export interface Methods {")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		name, ok := strings.CutPrefix(path, "/api/method/")
		if !ok {
			continue
		}
		if err := w.method(name, paths[path]); err != nil {
			return fmt.Errorf("read the description of %s: %w", path, err)
		}
	}
	w.line(0, "}")
	return nil
}

// operation is one verb of a path.
type operation struct {
	Summary    string `json:"summary"`
	Parameters []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
		Schema   any    `json:"schema"`
	} `json:"parameters"`
	RequestBody struct{ Content content } `json:"requestBody"`
	Responses   map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
}

type content map[string]struct {
	Schema any `json:"schema"`
}

func (c content) json() map[string]any {
	schema, _ := c["application/json"].Schema.(map[string]any)
	return schema
}

// method writes a method: what it takes by the body of a POST, or by the parameters of
// one that has none, and what it answers.
func (w *writer) method(name string, item map[string]json.RawMessage) error {
	var verbs []string
	var shown *operation
	for _, verb := range []string{"post", "get", "put", "delete"} {
		text := item[verb]
		if text == nil {
			continue
		}
		var op operation
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&op); err != nil {
			return err
		}
		verbs = append(verbs, strings.ToUpper(verb))
		if shown == nil {
			shown = &op
		}
	}
	if shown == nil {
		return nil
	}
	if shown.Summary != name {
		w.comment(1, shown.Summary)
	}
	args := w.schemaType(argumentsOf(shown))
	if args == anything {
		args = anyObject
	}
	result := anything
	answer := shown.Responses["200"].Content.json()
	if properties, ok := answer["properties"].(map[string]any); ok {
		if message, ok := properties["message"].(map[string]any); ok {
			result = w.schemaType(message)
		}
	}
	w.line(1, fmt.Sprintf("%s: { args: %s; result: %s; verbs: %s };", quote(name), args, result, literals(verbs)))
	return nil
}

// argumentsOf is the schema of a method's arguments.
func argumentsOf(op *operation) map[string]any {
	if schema := op.RequestBody.Content.json(); schema != nil {
		return schema
	}
	properties, required := map[string]any{}, []any{}
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		properties[p.Name] = p.Schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
