package typescript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"armature/core/openapi/typescript"
)

type object = map[string]any

// describe is a description with a DocType and a method, both called and described as
// text says.
func describe(t testing.TB, text string) []byte {
	t.Helper()
	field := object{"type": "string", "title": text, "description": text, "enum": []string{text, "Open"}}
	doc, err := json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": text, "version": text},
		"paths": object{"/api/method/" + text: object{"post": object{
			"summary": text,
			"requestBody": object{"content": object{"application/json": object{"schema": object{
				"type": "object", "properties": object{text: object{"const": text}, "next": object{"$ref": "#/components/schemas/" + text}}, "required": []string{text},
			}}}},
			"responses": object{"200": object{"content": object{"application/json": object{"schema": object{"properties": object{"message": field}}}}}},
		}}},
		"components": object{"schemas": object{text: object{
			"x-armature": object{"doctype": text, "rights": []string{text}, "mandatory": []string{text}},
			"properties": object{text: field, "rows": object{"type": "array", "items": object{"$ref": text}}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// check refuses a client whose types are no TypeScript, or more than types: of types
// nothing is left when they are compiled.
func check(t testing.TB, description []byte) map[string][]byte {
	t.Helper()
	files, err := typescript.Client(description)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		out := api.Transform(string(text), api.TransformOptions{Loader: api.LoaderTS})
		if len(out.Errors) > 0 {
			t.Fatalf("%s: %v\n%s", name, out.Errors[0], text)
		}
		if code := strings.TrimSpace(string(out.Code)); name == "doctypes.ts" && code != "" {
			t.Fatalf("something runs:\n%s", code)
		}
		if !strings.HasPrefix(string(text), typescript.Mark) {
			t.Errorf("%s does not say what it is", name)
		}
	}
	return files
}

// hostile are names that want to be more than names.
var hostile = []string{
	`"; globalThis.x = 1; "`, "*/ globalThis.x = 1; /*", "`${globalThis.x = 1}`", "\\", "\\\"", "a\nglobalThis.x = 1",
	"a\u2028globalThis.x = 1", "a\u2029b", "}; globalThis.x = 1; interface A {", "</script><script>", "constructor", "__proto__", "toString",
	"DocTypes", "Methods", "class", "123", "", " ", "é", "\u202eabc", "\x00", "*\u200b/", "**/x", "*" + "\x01" + "/x", "//", "'", "any", "string", strings.Repeat("x", 5000),
}

// TestHostileNames: whatever something is called, the source that names it holds types
// and runs nothing.
func TestHostileNames(t *testing.T) {
	for _, text := range hostile {
		check(t, describe(t, text))
	}
}

func FuzzNames(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, describe(t, text)) })
}

// TestSchemas: what the types say of values.
func TestSchemas(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{"type": "string"}`, `string`},
		{`{"type": ["integer", "null"]}`, `number | null`},
		{`{"enum": ["a", 1, null, true, 1]}`, `"a" | 1 | null | true`},
		{`{"const": -3}`, `-3`},
		{`{"const": 1e999}`, `number`},
		{`{"type": "array", "items": {"type": ["string", "null"]}}`, `(string | null)[]`},
		{`{"type": "array", "prefixItems": [{"type": "string"}]}`, `[string, ...unknown[]]`},
		{`{"type": "object", "properties": {"b-c": {"type": "boolean"}, "a": {}}, "required": ["a"]}`, `{ a: unknown; "b-c"?: boolean }`},
		{`{"type": "object", "additionalProperties": {"type": "number"}}`, `{ [name: string]: number }`},
		{`{"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Sales.Order"}]}`, `string | SalesOrder`},
		{`{"allOf": [{"type": "string"}, {"const": "x"}]}`, `(string) & ("x")`},
		{`{"$ref": "https://elsewhere.example/schema"}`, `unknown`},
		{`false`, `unknown`},
		{strings.Repeat(`{"type": "array", "items": `, 40) + `{}` + strings.Repeat(`}`, 40), `unknown` + strings.Repeat("[]", 13)},
	} {
		doc := fmt.Sprintf(`{"openapi": "3.1.0", "components": {"schemas": {"Sales.Order": {"x-armature": {"doctype": "Sales Order"}}}},
			"paths": {"/api/method/a.b": {"get": {"parameters": [{"name": "n", "in": "query", "required": true, "schema": {"type": "integer"}}],
				"responses": {"200": {"content": {"application/json": {"schema": {"properties": {"message": %s}}}}}}}}}}`, tt.schema)
		want := `"a.b": { args: { n: number }; result: ` + tt.want + `; verbs: "GET" };`
		if text := string(check(t, []byte(doc))["doctypes.ts"]); !strings.Contains(text, want) {
			t.Errorf("%s: want %s in\n%s", tt.schema, want, text)
		}
	}
}

// TestSameName: two DocTypes whose types would be called the same stay two.
func TestSameName(t *testing.T) {
	text := string(check(t, []byte(`{"openapi": "3.1.0", "components": {"schemas": {
		"a.b": {"x-armature": {"doctype": "a b"}}, "a_b": {"x-armature": {"doctype": "a_b"}}, "doc.types": {"x-armature": {"doctype": "doc types"}}}}}`))["doctypes.ts"])
	for _, want := range []string{`"a b": { document: AB;`, `"a_b": { document: AB_2;`, `"doc types": { document: DocTypes_2;`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestNoDescription(t *testing.T) {
	for _, text := range []string{``, `{}`, `[]`, `{"openapi": "2.0"}`, `{"openapi": "3.1.0", "paths": {"/api/method/x": {"get": 3}}}`} {
		if files, err := typescript.Client([]byte(text)); err == nil {
			t.Errorf("%s becomes %s", text, files["doctypes.ts"])
		}
	}
}
