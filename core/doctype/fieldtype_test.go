package doctype

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"armature/core/query"
)

// Every type says what it is, and its example is a value that a field of it takes
// and shows again.
func TestFieldTypesExplainThemselves(t *testing.T) {
	for _, ft := range FieldTypes() {
		if ft.Description == "" || ft.Form == "" || !strings.HasSuffix(ft.Description, ".") {
			t.Errorf("%s: %q, %q", ft.Name, ft.Description, ft.Form)
		}
		if (ft.Kind == NoValue) != (ft.Example == "") {
			t.Errorf("%s has the example %q", ft.Name, ft.Example)
		}
		if ft.Kind == NoValue || ft.Kind == Rows {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(ft.Example))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Errorf("%s: %v", ft.Name, err)
			continue
		}
		f := &Field{Name: "f", Type: ft.Name, Kind: ft.Kind}
		got, err := Coerce(f, v, time.UTC)
		if err == nil {
			err = f.Check(got, "")
		}
		if err != nil {
			t.Errorf("%s does not take its example: %v", ft.Name, err)
		}
		if s, ok := got.(string); ok && f.Sanitize(s) != s {
			t.Errorf("%s changes its example to %q", ft.Name, f.Sanitize(s))
		}
	}
}

func TestFieldTypes(t *testing.T) {
	tests := []struct {
		f         Field
		max       int
		link      bool
		sanitized string
		schema    string
	}{
		{Field{Type: "Data"}, 140, false, "a", `{"maxLength":140,"type":"string"}`},
		{Field{Type: "Data", Length: 7}, 7, false, "a", `{"maxLength":7,"type":"string"}`},
		{Field{Type: "Data", Options: "Email"}, 140, false, "a<b onclick=x>", `{"maxLength":140,"type":"string"}`},
		{Field{Type: "Small Text"}, 0, false, "a", `{"type":"string"}`},
		{Field{Type: "Text", Length: 9}, 9, false, "a", `{"maxLength":9,"type":"string"}`},
		{Field{Type: "Long Text", Length: 9}, 0, false, "a", `{"type":"string"}`},
		{Field{Type: "Code"}, 0, false, "a<b onclick=x>", `{"type":"string"}`},
		{Field{Type: "Password"}, 0, false, "a<b onclick=x>", `{"type":"string","writeOnly":true}`},
		{Field{Type: "Link", Options: "User"}, 140, true, "a", `{"description":"Name of a User","maxLength":140,"type":"string"}`},
		{Field{Type: "Dynamic Link", Options: "kind"}, 140, false, "a", `{"maxLength":140,"type":"string"}`},
		{Field{Type: "Select", Options: "A\nB"}, 140, false, "a", `{"enum":["A","B"],"maxLength":140,"type":"string"}`},
		{Field{Type: "Check"}, 0, false, "", `{"enum":[0,1],"type":"integer"}`},
		{Field{Type: "Int"}, 0, false, "", `{"type":"integer"}`},
		{Field{Type: "Float"}, 0, false, "", `{"type":"number"}`},
		{Field{Type: "Rating"}, 0, false, "", `{"maximum":1,"minimum":0,"type":"number"}`},
		{Field{Type: "Date"}, 0, false, "", `{"format":"date","type":"string"}`},
		{Field{Type: "Data", Numbered: true}, 140, false, "", `{"type":"integer"}`},
	}
	for _, tt := range tests {
		f := &tt.f
		f.Kind, _ = KindOf(f.Type)
		schema, err := json.Marshal(f.JSONSchema())
		if err != nil || string(schema) != tt.schema {
			t.Errorf("%s: schema %s, %v; want %s", f.Type, schema, err, tt.schema)
		}
		if f.MaxLength() != tt.max || f.IsLink() != tt.link {
			t.Errorf("%s: at most %d, link %v", f.Type, f.MaxLength(), f.IsLink())
		}
		if f.Kind == Text && tt.sanitized != "" {
			if got := f.Sanitize("a<b onclick=x>"); !strings.HasPrefix(got, "a") || (got == "a<b onclick=x>") != (tt.sanitized == "a<b onclick=x>") {
				t.Errorf("%s: sanitised to %q", f.Type, got)
			}
		}
	}
	if _, ok := TypeOf("Nonsense"); ok {
		t.Error("there is a type Nonsense")
	}
}

func TestOperatorsOfFieldTypes(t *testing.T) {
	for name, want := range map[string]map[query.Op]bool{
		"Data":  {query.Like: true, query.Timespan: false, query.Descendants: false, query.Between: true},
		"Float": {query.Like: false, query.Eq: true, query.In: true}, "Date": {query.Timespan: true, query.Next: true},
		"Time": {query.Timespan: false, query.Between: true}, "Link": {query.Descendants: true, query.Like: true},
		"Dynamic Link": {query.Descendants: false}, "Table": {query.Eq: false}, "Password": {query.Eq: false, query.Is: false}, "Button": {query.Is: false},
	} {
		f := &Field{Type: name}
		for op, takes := range want {
			if f.Takes(op) != takes {
				t.Errorf("%s takes %s: %v", name, op, f.Takes(op))
			}
		}
	}
}

// otherwise are comparisons with words that happen to be names of types.
var otherwise = map[string]string{
	"../../core/doctype/value_check.go":     "Phone", // a format of Data
	"../../core/httpapi/reply.go":           "Date",  // a header
	"../../core/store/storetest/migrate.go": "Data",  // a test
}

// TestTypeNamesAreAskedInOnePlace: code that compares the name of a field type knows
// something of the type that stands beside its descriptor.
func TestTypeNamesAreAskedInOnePlace(t *testing.T) {
	fset := token.NewFileSet()
	for _, folder := range []string{"core", "plugins", "runtime", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for _, e := range compared(n) {
					lit, ok := e.(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING {
						continue
					}
					name, _ := strconv.Unquote(lit.Value)
					if byTypeName[name] != nil && otherwise[filepath.ToSlash(path)] != name {
						t.Errorf("%s: compares with the field type %q: ask its descriptor", fset.Position(lit.Pos()), name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// compared are the values that a node compares something with.
func compared(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		return n.List
	}
	return nil
}

func TestFieldTypesAreNamedOnce(t *testing.T) {
	if len(byTypeName) != len(fieldTypes) {
		t.Error("two types have one name")
	}
	all := FieldTypes()
	all[0].Name = "changed"
	if reflect.DeepEqual(all, FieldTypes()) || fieldTypes[0].Name == "changed" {
		t.Error("the list can be changed from outside")
	}
}
