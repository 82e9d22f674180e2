package doctype_test

import (
	"errors"
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/fault"
)

func TestDefineRefuses(t *testing.T) {
	field := func(f doctype.FieldDefinition) doctype.Definition {
		return doctype.Definition{Name: "Thing", Custom: 1, Fields: []doctype.FieldDefinition{f}}
	}
	tests := []struct {
		name    string
		def     doctype.Definition
		excType string
	}{
		{"name with a slash", doctype.Definition{Name: "a/b"}, "NameError"},
		{"name from a digit", doctype.Definition{Name: "1st"}, "NameError"},
		{"name of 62 characters", doctype.Definition{Name: "A" + strings.Repeat("b", 61)}, "NameError"},
		{"name with a quote", doctype.Definition{Name: `A"; drop table x; --`}, "NameError"},
		{"unknown type", field(doctype.FieldDefinition{Name: "a", Type: "Blob"}), "ValidationError"},
		{"reserved fieldname", field(doctype.FieldDefinition{Name: "owner", Type: "Data"}), "InvalidFieldNameError"},
		{"fieldname with a quote", field(doctype.FieldDefinition{Name: `a"b`, Type: "Data"}), "InvalidFieldNameError"},
		{"fieldname in capitals", field(doctype.FieldDefinition{Name: "Title", Type: "Data"}), "InvalidFieldNameError"},
		{"mandatory break", field(doctype.FieldDefinition{Name: "a", Type: "Section Break", Required: 1}), "IllegalMandatoryError"},
		{"link to nothing", field(doctype.FieldDefinition{Name: "a", Type: "Link"}), "DoctypeLinkError"},
		{"hidden and mandatory", field(doctype.FieldDefinition{Name: "a", Type: "Data", Required: 1, Hidden: 1}), "HiddenAndMandatoryWithoutDefaultError"},
		{"unique long text", field(doctype.FieldDefinition{Name: "a", Type: "Long Text", Unique: 1}), "NonUniqueError"},
		{"indexed long text", field(doctype.FieldDefinition{Name: "a", Type: "Text", Indexed: 1}), "CannotIndexedError"},
		{"permlevel 10", field(doctype.FieldDefinition{Name: "a", Type: "Data", PermLevel: 10}), "ValidationError"},
		{"two of a name", doctype.Definition{Name: "Thing", Fields: []doctype.FieldDefinition{
			{Name: "a", Type: "Data"}, {Name: "a", Type: "Int"}}}, "UniqueFieldnameError"},
		{"permission without role", doctype.Definition{Name: "Thing",
			Permissions: []doctype.RuleDefinition{{}}}, "MandatoryError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := doctype.Define(tt.def)
			var e *fault.Error
			if !errors.As(err, &e) || e.ExcType() != tt.excType {
				t.Errorf("got %v, want %s", err, tt.excType)
			}
		})
	}
}

func TestDefineNamesWhatIsUnnamed(t *testing.T) {
	dt, err := doctype.Define(doctype.Definition{Name: "Thing", Autoname: "field:code", Fields: []doctype.FieldDefinition{
		{Label: "Due Date!", Type: "Date"},
		{Label: "Name", Type: "Data"},
		{Type: "Section Break"},
		{Name: "code", Type: "Data"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"due_date", "name1", "field_3", "code"} {
		if dt.Field(name) == nil {
			t.Errorf("no field %s", name)
		}
	}
	if !dt.Field("code").Unique {
		t.Error("the naming field is unique")
	}
	if got := dt.Columns[doctype.ColModifiedBy].Name; got != "modified_by" {
		t.Errorf("the standard columns stand first, in order: %s", got)
	}
	if f := dt.Field("field_3"); f.Index != -1 {
		t.Error("a break has no column")
	}
}
