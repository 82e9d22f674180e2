package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/openapi"
)

// define makes a DocType that everybody reads at level 0, and clerks at level 1.
func define(t testing.TB, name string, d doctype.Definition) *doctype.DocType {
	t.Helper()
	d.Name = name
	d.Permissions = []doctype.RuleDefinition{
		{Role: "All", Rights: map[string]bool{"read": true, "write": true, "create": true}},
		{Role: "Clerk", PermLevel: 1, Rights: map[string]bool{"read": true}},
	}
	dt, err := doctype.Define(d)
	if err != nil {
		t.Fatal(err)
	}
	return dt
}

func schema(t testing.TB) *doctype.Schema {
	return doctype.NewSchema(1, []*doctype.DocType{
		define(t, "Sales Order", doctype.Definition{Fields: []doctype.FieldDefinition{
			{Name: "title", Label: "Title of it", Type: "Data", Required: 1},
			{Name: "status", Type: "Select", Options: "Open\nClosed", Required: 1, Default: "Open"},
			{Name: "profit", Type: "Float", PermLevel: 1},
			{Name: "total", Type: "Int", ReadOnly: 1},
			{Name: "lines", Type: "Table", Options: "Order Line"},
			{Name: "head", Type: "Section Break"},
		}}),
		define(t, "Order Line", doctype.Definition{Child: 1, Fields: []doctype.FieldDefinition{
			{Name: "item", Type: "Data"}, {Name: "margin", Type: "Float", PermLevel: 1},
		}}),
		define(t, "Shop Settings", doctype.Definition{Single: 1, Fields: []doctype.FieldDefinition{{Name: "open", Type: "Check"}}}),
	})
}

// describe is the description for a caller who has some rights on every DocType.
func describe(t *testing.T, caller *identity.Caller, rights []access.Right, methods ...openapi.Method) (doc map[string]any) {
	t.Helper()
	text, err := openapi.Document(openapi.Info{Title: "Shop", Version: "1.2", Server: "https://shop.example"}, schema(t), methods, caller,
		func(_ *doctype.DocType, right access.Right) bool { return slices.Contains(rights, right) })
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at walks into a decoded document.
func at(t *testing.T, v any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		m, ok := v.(map[string]any)
		if !ok || m[key] == nil {
			t.Fatalf("there is no %s of %v in %v", key, keys, v)
		}
		v = m[key]
	}
	return v
}

func keys(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func reader(roles ...string) *identity.Caller {
	return &identity.Caller{User: "zoe@example.com", Roles: append(roles, "All")}
}

// A caller is shown the operations that it has a right to, and no others.
func TestOperationsFollowRights(t *testing.T) {
	const all, one, single = "/api/resource/Sales%20Order", "/api/resource/Sales%20Order/{name}", "/api/resource/Shop%20Settings/Shop%20Settings"
	for _, tt := range []struct {
		rights []access.Right
		paths  string
		verbs  map[string]string
	}{
		{nil, "[]", nil},
		{[]access.Right{access.Create}, fmt.Sprintf("[%s %s]", all, single), map[string]string{all: "[post]", single: "[]"}},
		{[]access.Right{access.Read}, fmt.Sprintf("[/api/live %s %s %s]", all, one, single),
			map[string]string{all: "[get]", one: "[get parameters]", single: "[get]"}},
		{[]access.Right{access.Read, access.Write, access.Create, access.Delete}, fmt.Sprintf("[/api/live %s %s %s]", all, one, single),
			map[string]string{all: "[get post]", one: "[delete get parameters put]", single: "[get put]"}},
	} {
		doc := describe(t, reader(), tt.rights)
		paths, _ := doc["paths"].(map[string]any)
		if got := fmt.Sprint(keys(paths)); got != tt.paths {
			t.Errorf("%v: paths %s, want %s", tt.rights, got, tt.paths)
		}
		for path, want := range tt.verbs {
			if got := fmt.Sprint(keys(paths[path])); got != want {
				t.Errorf("%v: %s has %s, want %s", tt.rights, path, got, want)
			}
		}
	}
}

// Fields of a level that the caller does not read are not there, in rows neither.
func TestFieldsFollowLevels(t *testing.T) {
	schemas := func(caller *identity.Caller) any {
		return at(t, describe(t, caller, []access.Right{access.Read}), "components", "schemas")
	}
	has := func(all any, name, field string) bool {
		return slices.Contains(keys(at(t, all, name, "properties")), field)
	}
	plain, clerk := schemas(reader()), schemas(reader("Clerk"))
	for _, tt := range []struct {
		doctype, field string
		plain, clerk   bool
	}{
		{"Sales.Order", "title", true, true},
		{"Sales.Order", "profit", false, true},
		{"Sales.Order", "head", false, false}, // which has no value
		{"Sales.Order", "doctype", true, true},
		{"Order.Line", "item", true, true},
		{"Order.Line", "margin", false, true},
	} {
		if has(plain, tt.doctype, tt.field) != tt.plain || has(clerk, tt.doctype, tt.field) != tt.clerk {
			t.Errorf("%s.%s is shown wrongly", tt.doctype, tt.field)
		}
	}
	order := at(t, plain, "Sales.Order", "properties")
	if at(t, order, "title", "title") != "Title of it" || at(t, order, "total", "readOnly") != true {
		t.Errorf("%v", order)
	}
	if got := at(t, order, "lines", "items", "$ref"); got != "#/components/schemas/Order.Line" {
		t.Errorf("rows are %v", got)
	}
	// A default stands in for what is left out.
	if got := at(t, plain, "Sales.Order", "description"); got != "Mandatory on create: title" {
		t.Errorf("description %q", got)
	}
}

// A method is described with the schemas of its plugin: as parameters where there is
// no body.
func TestMethods(t *testing.T) {
	doc := describe(t, reader(), nil,
		openapi.Method{
			Path: "acme.close", Description: "Closes one", Verbs: []string{"GET", "POST"}, AllowGuest: true,
			Args:   json.RawMessage(`{"type": "object", "properties": {"name": {"type": "string"}, "at": {"type": "integer"}}, "required": ["name"]}`),
			Result: json.RawMessage(`{"type": "boolean"}`),
		},
		openapi.Method{Path: "framework.ping"},
	)
	get := at(t, doc, "paths", "/api/method/acme.close", "get")
	var parameters []string
	for _, p := range at(t, get, "parameters").([]any) {
		parameters = append(parameters, fmt.Sprintf("%v %v", at(t, p, "name"), at(t, p, "required")))
	}
	if fmt.Sprint(parameters) != "[at false name true]" {
		t.Errorf("parameters %v", parameters)
	}
	post := at(t, doc, "paths", "/api/method/acme.close", "post")
	if got := at(t, post, "requestBody", "content", "application/json", "schema", "properties", "at", "type"); got != "integer" {
		t.Errorf("body %v", got)
	}
	if got := at(t, post, "responses", "200", "content", "application/json", "schema", "properties", "message", "type"); got != "boolean" {
		t.Errorf("result %v", got)
	}
	if got := at(t, post, "security").([]any); len(got) != 2 || len(got[0].(map[string]any)) != 0 {
		t.Errorf("callable without credentials: %v", got)
	}
	ping := at(t, doc, "paths", "/api/method/framework.ping")
	if fmt.Sprint(keys(ping)) != "[get post]" || at(t, ping, "get", "summary") != "framework.ping" {
		t.Errorf("a method that says nothing of itself: %v", ping)
	}
	if at(t, doc, "info", "title") != "Shop" || doc["openapi"] != "3.1.0" {
		t.Errorf("%v", doc["info"])
	}
}

func ExampleDocument() {
	dt, _ := doctype.Define(doctype.Definition{Name: "Note", Fields: []doctype.FieldDefinition{{Name: "text", Type: "Data"}}})
	text, _ := openapi.Document(
		openapi.Info{Title: "Notes", Version: "1", Server: "https://notes.example"}, doctype.NewSchema(1, []*doctype.DocType{dt}), nil,
		&identity.Caller{User: "zoe@example.com"},
		func(_ *doctype.DocType, right access.Right) bool { return right == access.Read })
	var doc struct{ Paths map[string]any }
	_ = json.Unmarshal(text, &doc)
	fmt.Println(keys(doc.Paths))
	// Output: [/api/live /api/resource/Note /api/resource/Note/{name}]
}
