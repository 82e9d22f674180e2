package doctype_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
)

// define makes a DocType of the JSON of its definition.
func define(t *testing.T, text string) *doctype.DocType {
	t.Helper()
	var def doctype.Definition
	if err := json.Unmarshal([]byte(text), &def); err != nil {
		t.Fatal(err)
	}
	dt, err := doctype.Define(def)
	if err != nil {
		t.Fatal(err)
	}
	return dt
}

func refuses(t *testing.T, what string, err error, excType string) {
	t.Helper()
	var f *fault.Error
	switch {
	case excType == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case excType != "" && (!errors.As(err, &f) || f.ExcType() != excType):
		t.Errorf("%s: got %v, want %s", what, err, excType)
	}
}

func TestCheckRules(t *testing.T) {
	for rules, excType := range map[string]string{
		`{"role":"A","read":1,"write":1}`:                               "",
		`{"role":"A","read":1},{"role":"A","read":1,"if_owner":1}`:      "",
		`{"role":"A","read":1},{"role":"A","write":1}`:                  "ValidationError",
		`{"role":"A","read":1,"permlevel":1}`:                           "ValidationError",
		`{"role":"A","write":1,"cancel":1}`:                             "ValidationError",
		`{"role":"A","submit":1}`:                                       "ValidationError",
		`{"role":"A","import":1}`:                                       "ValidationError",
		`{"role":"A","write":1,"submit":1}`:                             "ValidationError",
		`{"role":"A","read":1,"condition":"[[\"title\",\"=\",\"x\"]]"}`: "",
	} {
		dt := define(t, `{"name":"T","fields":[{"fieldname":"title","fieldtype":"Data"}],"permissions":[`+rules+`]}`)
		refuses(t, rules, dt.CheckRules(), excType)
	}
	for _, bad := range []string{`{"read":1}`, `{"role":"A","permlevel":10}`} {
		var def doctype.Definition
		if err := json.Unmarshal([]byte(`{"name":"T","permissions":[`+bad+`]}`), &def); err != nil {
			t.Fatal(err)
		}
		if _, err := doctype.Define(def); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestCheckTargets(t *testing.T) {
	row := define(t, `{"name":"Row","istable":1,"fields":[]}`)
	other := define(t, `{"name":"Other","fields":[]}`)
	sc := doctype.NewSchema(7, []*doctype.DocType{row, other})
	if sc.Len() != 2 || sc.DocType("Row") != row || len(slices.Collect(sc.All)) != 2 {
		t.Error("the schema is not what it was made of")
	}
	for field, excType := range map[string]string{
		`"fieldtype":"Link","options":"Other"`:            "",
		`"fieldtype":"Link","options":"T"`:                "",
		`"fieldtype":"Link","options":"None"`:             "WrongOptionsDoctypeLinkError",
		`"fieldtype":"Table","options":"Row"`:             "",
		`"fieldtype":"Table MultiSelect","options":"Row"`: "",
		`"fieldtype":"Table","options":"Other"`:           "WrongOptionsDoctypeLinkError",
		`"fieldtype":"Table","options":"None"`:            "WrongOptionsDoctypeLinkError",
	} {
		refuses(t, field, define(t, `{"name":"T","fields":[{"fieldname":"f",`+field+`}]}`).CheckTargets(sc), excType)
	}
	refuses(t, "a table in a table", define(t, `{"name":"T","istable":1,"fields":[{"fieldname":"f","fieldtype":"Table","options":"Row"}]}`).CheckTargets(sc), "ValidationError")
	if got := doctype.FreeTable(sc, row.Table, map[string]bool{row.Table + "_2": true}); got != row.Table+"_3" {
		t.Errorf("the free table is %s", got)
	}
	if _, err := sc.Platform("None"); err == nil {
		t.Error("None is a DocType of the platform")
	}
	if dt, err := sc.Platform("Other"); err != nil || dt != other {
		t.Errorf("Other is %v, %v", dt, err)
	}
	c := doctype.NewCatalog(sc)
	c.Publish(doctype.NewSchema(6, nil))
	if c.Schema() != sc {
		t.Error("an older schema took the place of a newer one")
	}
	newer := doctype.NewSchema(8, []*doctype.DocType{define(t, `{"name":"Own","custom":1,"fields":[]}`)})
	if c.Publish(newer); c.Schema() != newer {
		t.Error("a newer schema was not published")
	}
	if _, err := newer.Platform("Own"); err == nil {
		t.Error("a DocType of the user's is the platform's")
	}
}

// head is enough of DocType to write definitions down as documents.
func head(t *testing.T) (dt, field, perm *doctype.DocType) {
	field = define(t, `{"name":"DocField","istable":1,"fields":[
		{"fieldname":"fieldname","fieldtype":"Data"},{"fieldname":"label","fieldtype":"Data"},{"fieldname":"fieldtype","fieldtype":"Data"},
		{"fieldname":"options","fieldtype":"Small Text"},{"fieldname":"column_name","fieldtype":"Data"},{"fieldname":"reqd","fieldtype":"Check"},
		{"fieldname":"is_virtual","fieldtype":"Check"},{"fieldname":"length","fieldtype":"Int"}]}`)
	perm = define(t, `{"name":"DocPerm","istable":1,"fields":[{"fieldname":"role","fieldtype":"Data"},{"fieldname":"read","fieldtype":"Check"}]}`)
	dt = define(t, `{"name":"DocType","fields":[{"fieldname":"title_field","fieldtype":"Data"},{"fieldname":"retired_columns","fieldtype":"Long Text"},
		{"fieldname":"image_field","fieldtype":"Data"},{"fieldname":"subject_field","fieldtype":"Data"},{"fieldname":"is_tree","fieldtype":"Check"},
		{"fieldname":"fields","fieldtype":"Table","options":"DocField"},{"fieldname":"permissions","fieldtype":"Table","options":"DocPerm"}]}`)
	return dt, field, perm
}

type f = map[string]any

func write(t *testing.T, fields ...f) *doctype.Document {
	t.Helper()
	dt, field, perm := head(t)
	doc := doctype.NewDocument(dt)
	doc.Put("name", "Thing")
	var rows []*doctype.Document
	for _, values := range fields {
		row := doctype.NewDocument(field)
		for k, v := range values {
			row.Put(k, v)
		}
		rows = append(rows, row)
	}
	doc.PutRows("fields", rows)
	rule := doctype.NewDocument(perm)
	rule.Put("role", "Clerk")
	rule.Put("read", int64(1))
	doc.PutRows("permissions", []*doctype.Document{rule})
	return doc
}

func columns(doc *doctype.Document) (list []string) {
	for _, row := range doc.Rows("fields") {
		list = append(list, row.Text("column_name"))
	}
	return list
}

func TestDefinitionOfADocument(t *testing.T) {
	doc := write(t, f{"fieldname": "title", "fieldtype": "Data", "length": int64(9), "reqd": int64(1)}, f{"fieldname": "kind", "fieldtype": "Dynamic Link", "options": "none"})
	def := doctype.DefinitionOf(doc)
	if def.Name != "Thing" || len(def.Fields) != 2 || def.Fields[0].Length != 9 || def.Fields[0].Required != 1 || !def.Permissions[0].Rights["read"] {
		t.Errorf("the definition is %+v", def)
	}
	dt, err := doctype.Define(def)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, "a Dynamic Link by no field", dt.CheckNames(doc), "ValidationError")
	for field, excType := range map[string]string{"title": "", "none": "ValidationError"} {
		doc := write(t, f{"fieldname": "title", "fieldtype": "Data"})
		doc.Put("title_field", field)
		dt, err := doctype.Define(doctype.DefinitionOf(doc))
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, "title_field "+field, dt.CheckNames(doc), excType)
	}
}

// A field keeps its column under another name, gets a new one with another kind, and
// finds its old one when it comes back.
func TestFixColumns(t *testing.T) {
	first := write(t, f{"name": "1", "label": "Size", "fieldtype": "Data"}, f{"name": "2", "fieldname": "xmin", "fieldtype": "Int"}, f{"name": "3", "label": "B", "fieldtype": "Section Break"})
	doctype.FixColumns(first, nil)
	if got := columns(first); !slices.Equal(got, []string{"size", "xmin_2", ""}) || first.Rows("fields")[1].Text("label") != "Xmin" {
		t.Errorf("new columns %v", got)
	}
	renamed := write(t, f{"name": "1", "fieldname": "width", "fieldtype": "Data"}, f{"name": "9", "fieldname": "size", "fieldtype": "Data"})
	doctype.FixColumns(renamed, first)
	if got := columns(renamed); got[1] != "size" || got[0] == "size" {
		t.Errorf("columns %v: the name that is there again keeps its column", got)
	}
	moved := write(t, f{"name": "1", "fieldname": "width", "fieldtype": "Data"})
	doctype.FixColumns(moved, first)
	if got := columns(moved); !slices.Equal(got, []string{"size"}) {
		t.Errorf("a renamed field has the column %v", got)
	}
	other := write(t, f{"name": "1", "fieldname": "size", "fieldtype": "Int"})
	doctype.FixColumns(other, first)
	if got := columns(other); !slices.Equal(got, []string{"size_2"}) {
		t.Errorf("a field of another kind has the column %v", got)
	}
	back := write(t, f{"name": "7", "fieldname": "size", "fieldtype": "Small Text"})
	doctype.FixColumns(back, other)
	if got := columns(back); !slices.Equal(got, []string{"size"}) {
		t.Errorf("a field that comes back has the column %v", got)
	}
}

func TestDocument(t *testing.T) {
	row := define(t, `{"name":"Row","istable":1,"fields":[{"fieldname":"n","fieldtype":"Int"}]}`)
	dt := define(t, `{"name":"Doc","autoname":"field:title","sort_field":"n","sort_order":"asc","owner_fields":"owner, who","public_field":"open","fields":[
		{"fieldname":"title","fieldtype":"Data"},{"fieldname":"n","fieldtype":"Int"},{"fieldname":"x","fieldtype":"Float"},{"fieldname":"open","fieldtype":"Check"},
		{"fieldname":"who","fieldtype":"Link","options":"User"},{"fieldname":"kind","fieldtype":"Data"},{"fieldname":"about","fieldtype":"Dynamic Link","options":"kind"},
		{"fieldname":"rows","fieldtype":"Table","options":"Row"}]}`)
	if order, desc := dt.DefaultOrder(); order.Name != "n" || desc || dt.NamingField() != "title" || dt.Counts() || len(dt.Owners) != 2 || dt.Public.Name != "open" {
		t.Errorf("the DocType is %+v", dt)
	}
	if order, desc := row.DefaultOrder(); order.Name != "modified" || !desc {
		t.Errorf("rows are ordered by %s", order.Name)
	}
	doc := doctype.NewDocument(dt)
	doc.Put("name", "N")
	doc.Put("owner", "ann")
	doc.Put("modified", "2026-01-01 00:00:00.000000")
	doc.Put("n", int64(3))
	doc.Put("open", int64(1))
	doc.Put("kind", " User ")
	r := doctype.NewDocument(row)
	r.Put("n", int64(1))
	doc.PutRows("rows", []*doctype.Document{r})
	copied := doc.Clone()
	copied.Put("n", int64(4))
	copied.Rows("rows")[0].Put("n", int64(2))
	if doc.Name() != "N" || doc.Owner() != "ann" || doc.Modified() == "" || doc.Docstatus() != 0 || doc.Int("n") != 3 || !doc.Bool("open") ||
		doc.Get("none") != nil || doc.Rows("rows")[0].Int("n") != 1 || doc.Get("x") != 0. {
		t.Errorf("the document is %v", doc.Values())
	}
	for field, target := range map[string]string{"who": "User", "about": "User", "title": ""} {
		if got := doc.LinkTarget(dt.Field(field)); got != target {
			t.Errorf("%s points at %q", field, got)
		}
	}
	for _, tt := range []struct {
		field, op, value string
		applies          bool
	}{
		{"n", "=", "3", true}, {"n", "!=", "3", false}, {"n", ">", "2", true}, {"n", "<", "3", false}, {"n", ">=", "3", true}, {"n", "<=", "2", false},
		{"x", "=", "0", true}, {"title", "=", "", true}, {"title", "<", "a", true}, {"none", "=", "", false}, {"n", "=", "word", false}, {"n", "like", "3", false},
	} {
		rule := doctype.NamingRule{Conditions: []doctype.NamingCondition{{Field: tt.field, Op: tt.op, Value: tt.value}}}
		if rule.Applies(doc, time.UTC) != tt.applies {
			t.Errorf("%s %s %q applies: %v", tt.field, tt.op, tt.value, !tt.applies)
		}
	}
}

func TestCheckValues(t *testing.T) {
	for _, tt := range []struct {
		f       doctype.Field
		v       any
		excType string
	}{
		{doctype.Field{Type: "Int", NonNegative: true}, int64(-1), "NonNegativeError"},
		{doctype.Field{Type: "Float", NonNegative: true}, -0.5, "NonNegativeError"},
		{doctype.Field{Type: "Float", NonNegative: true}, 0.0, ""},
		{doctype.Field{Type: "Data", Length: 2}, "äöü", "CharacterLengthExceededError"},
		{doctype.Field{Type: "Data", Length: 3}, "äöü", ""},
		{doctype.Field{Type: "Select", Options: "A\nB"}, "C", "ValidationError"},
		{doctype.Field{Type: "Select", Options: "A\nB"}, "B", ""},
		{doctype.Field{Type: "Select", Options: "A\nB"}, "", ""},
		{doctype.Field{Type: "Select"}, "any", ""},
		{doctype.Field{Type: "Data", Options: "Email"}, "A <a@b.co>, c@d.co", ""},
		{doctype.Field{Type: "Data", Options: "Email"}, "a", "InvalidEmailAddressError"},
		{doctype.Field{Type: "Data", Options: "Email"}, "x: a@b.co;", "InvalidEmailAddressError"},
		{doctype.Field{Type: "Data", Options: "Phone"}, "+49 (30) 1", ""},
		{doctype.Field{Type: "Data", Options: "Phone"}, "call me", "InvalidPhoneNumberError"},
		{doctype.Field{Type: "Data", Options: "Name"}, "Ada O'Hara", ""},
		{doctype.Field{Type: "Data", Options: "Name"}, "1st", "InvalidNameError"},
		{doctype.Field{Type: "Data", Options: "URL"}, "https://example.org/a", ""},
		{doctype.Field{Type: "Data", Options: "URL"}, "javascript:x", "ValidationError"},
	} {
		refuses(t, tt.f.Type+" "+tt.f.Options, tt.f.Check(tt.v, "Row #1: "), tt.excType)
	}
	rich, plain := &doctype.Field{Type: "Text Editor"}, &doctype.Field{Type: "Text"}
	for text, blank := range map[string]bool{"": true, "  ": true, "<p><br></p>": true, "<p>x</p>": false, `<img src="x">`: false} {
		if rich.Blank(text) != blank {
			t.Errorf("%q is blank: %v", text, !blank)
		}
	}
	if plain.Blank("<p></p>") {
		t.Error("plain text has no markup")
	}
	if doctype.Int.Nullable() || !doctype.Text.Nullable() {
		t.Error("numbers are never null, text may be")
	}
}
