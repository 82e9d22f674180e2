package doctypes

import (
	"testing"

	"armature/core/doctype"
)

func TestShippedDefinitionsAreWhole(t *testing.T) {
	all, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	boot := all.boot
	tables := map[string]string{}
	for dt := range boot.All {
		if other, taken := tables[dt.Table]; taken {
			t.Errorf("%s and %s share the table %s", dt.Name, other, dt.Table)
		}
		tables[dt.Table] = dt.Name
		for _, f := range dt.Fields {
			if !f.IsLink() && f.Kind != doctype.Rows {
				continue
			}
			target := boot.DocType(f.Options)
			if target == nil {
				t.Errorf("%s.%s points at %s, which is not shipped", dt.Name, f.Name, f.Options)
			} else if f.Kind == doctype.Rows && !target.Child {
				t.Errorf("%s.%s holds rows of %s, which is no child table", dt.Name, f.Name, f.Options)
			}
		}
	}
	// A key nobody reads is a misspelt one.
	head := boot.DocType(doctype.DocTypeName)
	for _, b := range all.types {
		for key := range b.values {
			if head.Field(key) == nil {
				t.Errorf("%s: DocType has no field %s", b.Name, key)
			}
		}
	}
}
