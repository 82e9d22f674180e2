package access_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
)

func TestFields(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	ask(t, s, documenttest.User(bob, "Reader"), func(r *access.Rights, tx document.Tx) error {
		doc, err := tx.Get(t.Context(), r.Schema, r.Schema.DocType("Job"), "one", false)
		if err != nil {
			return err
		}
		row := doc.Rows("parts")[0]
		for _, test := range []struct {
			doc   *doctype.Document
			field string
			level *access.Rights
			want  bool
		}{
			{doc, "", r, true}, {doc, "t", r, true}, {doc, "secret", r, false}, {doc, "gone", r, false},
			{row, "q", r, true}, {row, "cost", r, false},
		} {
			if err := test.level.DemandField(test.doc, test.field, access.Read); (err == nil) != test.want {
				t.Errorf("%s of %s: %v", test.field, test.doc.Type.Name, err)
			}
		}
		if got := r.Levels(row); got != 1 {
			t.Errorf("levels of a row: %b", got)
		}
		for _, name := range []string{"Job", "Part"} {
			if err := r.DemandNew(t.Context(), r.Schema.DocType(name), ""); fault.KindOf(err) != fault.Permission {
				t.Errorf("a new %s: %v", name, err)
			}
		}
		for table, want := range map[string]fault.Kind{"hidden": fault.Permission, "firm": fault.Validation, "none": fault.Validation} {
			if err := r.AdmitTable(doc.Type, row.Type, table, access.Read); fault.KindOf(err) != want {
				t.Errorf("the table %s: %v", table, err)
			}
		}
		missing := fault.Missing("gone")
		if err := r.MissingRow(row.Type, access.Read, "x", missing); fault.KindOf(err) != fault.Permission {
			t.Errorf("who asks for a row learns that there is none: %v", err)
		}
		return r.AdmitTable(doc.Type, row.Type, "parts", access.Read)
	})
	ask(t, s, documenttest.User(bob, "Writer", identity.SystemManager), func(r *access.Rights, _ document.Tx) error {
		if err := r.MissingRow(r.Schema.DocType("Part"), access.Read, "x", fault.Missing("gone")); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a System Manager learns no row: %v", err)
		}
		if err := r.DemandNew(t.Context(), r.Schema.DocType("Job"), "secret"); fault.KindOf(err) != fault.Permission {
			t.Errorf("a new document with a field of another level: %v", err)
		}
		if got := r.WriteLevels(r.Schema.DocType("Job")); got != 1 {
			t.Errorf("levels to write: %b", got)
		}
		return r.DemandNew(t.Context(), r.Schema.DocType("Job"), "t")
	})
}

// All that a caller reads of a DocType, as Files ask for it.
func TestReach(t *testing.T) {
	s := world(t, `[["n","=",1]]`)
	show := func(tx document.Tx, dt *doctype.DocType, all []access.Reach) string {
		var parts []string
		for _, r := range all {
			n := int64(-1)
			if r.Where != nil {
				var err error
				if n, err = tx.Count(t.Context(), &doctype.Select{DocType: dt, Where: r.Named(doctype.Operand{Field: dt.Columns[doctype.ColName]})}); err != nil {
					t.Error(err)
				}
			}
			fields := slices.DeleteFunc(slices.Clone(r.Fields), func(name any) bool { return dt.Field(name.(string)).Standard })
			parts = append(parts, fmt.Sprintf("all %v, %d names, some %v, fields %v", r.Where == nil, max(n, 0), r.Some, fields))
		}
		return strings.Join(parts, "; ")
	}
	tests := []struct {
		caller   *identity.Caller
		typeName string
		want     string
	}{
		{documenttest.User(bob, "Reader"), "Area", "all true, 0 names, some false, fields [n parent_area is_group]"},
		{documenttest.User(bob, "Reader"), "Firm", "all true, 0 names, some true, fields [login area]"},
		{documenttest.User(bob, "Ruled"), "Job", "all false, 1 names, some true"},
		{documenttest.User(bob, "Reader"), "Part", "all false, 3 names, some true, fields [q firm]"},
		{documenttest.User(bob, "Ruled"), "Part", "all false, 2 names, some true, fields [q firm]"},
		{documenttest.User(bob, "Level"), "Part", "all false, 3 names, some false, fields [q cost firm]; all false, 1 names"},
		{documenttest.User(bob), "Job", ""}, {documenttest.User(bob), "Part", ""}, {identity.Root(), "None", ""},
	}
	for _, test := range tests {
		ask(t, s, test.caller, func(r *access.Rights, tx document.Tx) error {
			all, err := r.ReachOf(t.Context(), test.typeName)
			if got := show(tx, r.Schema.DocType(test.typeName), all); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%v of %s: %s, want %s", test.caller.Roles, test.typeName, got, test.want)
			}
			return err
		})
	}
}
