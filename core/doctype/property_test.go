package doctype

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write fieldtypes.md and doctype.schema.json anew")

// Every property that Define reads is explained, and no other.
func TestPropertiesAreThoseThatAreRead(t *testing.T) {
	for _, tt := range []struct {
		of        any
		explained []Property
	}{{Definition{}, DocTypeProperties}, {FieldDefinition{}, FieldProperties}, {RuleDefinition{}, RuleProperties[:4]}} {
		read := map[string]bool{}
		typ := reflect.TypeOf(tt.of)
		for i := range typ.NumField() {
			if name := typ.Field(i).Tag.Get("json"); name != "-" {
				read[name] = true
			}
		}
		for _, p := range tt.explained {
			if !read[p.Name] {
				t.Errorf("%s: %s is explained and not read", typ.Name(), p.Name)
			}
			if delete(read, p.Name); p.Description == "" || !json.Valid([]byte(p.Example)) {
				t.Errorf("%s: %s is explained by %q and %q", typ.Name(), p.Name, p.Description, p.Example)
			}
		}
		for name := range read {
			t.Errorf("%s: %s is not explained", typ.Name(), name)
		}
	}
}

// The page and the schema are what the descriptors make of them.
func TestPageAndSchema(t *testing.T) {
	schema, err := json.MarshalIndent(JSONSchema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"fieldtypes.md": page(), "doctype.schema.json": append(schema, '\n')} {
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the descriptors make of it (%v): run go test ./core/doctype -run TestPageAndSchema -update", file, err)
		}
	}
}

func page() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# A DocType as JSON\n\nMade of the descriptors in this folder; `go test . -run TestPageAndSchema -update` writes it anew.\n"+
		"`doctype.schema.json` is the same as a JSON Schema: a file of a DocType may point at it by `$schema`.\n"+
		"`description`, `image_field`, `subject_field`, `max_attachments` and `document_type` of a DocType, and `description`, `placeholder`,\n"+
		"`in_list_view`, `in_standard_filter`, `bold`, `collapsible` and `columns` of a field are kept for who draws the form.\nOther keys are tolerated and not kept.\n")
	for _, part := range []struct {
		title string
		all   []Property
	}{{"The DocType", DocTypeProperties}, {"A field", FieldProperties}, {"A permission row", RuleProperties}} {
		fmt.Fprintf(&b, "\n## %s\n\n| property | example | what it says |\n|---|---|---|\n", part.title)
		for _, p := range part.all {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", p.Name, p.Example, p.Description)
		}
	}
	fmt.Fprint(&b, "\n## Field types\n\n| type | value, as JSON | what it is | `options` | in a form | operators of filters |\n|---|---|---|---|---|---|\n")
	for _, t := range FieldTypes() {
		value, ops := "", []string{}
		if t.Example != "" {
			value = "`" + t.Example + "`"
		}
		for _, op := range t.Operators() {
			ops = append(ops, "`"+string(op)+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", t.Name, value, t.Description, t.Options.Meaning, t.Form, strings.Join(ops, " "))
	}
	return b.Bytes()
}
