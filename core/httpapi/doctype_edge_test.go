package httpapi_test

import (
	"math"
	"testing"

	"armature/core/sites/sitetest"
)

// TestEmptyInUniqueField: no text in a unique field is no value, however it is
// sent; what is not nullable is the empty string, and then unique too.
func TestEmptyInUniqueField(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Sheet", []obj{
			{"fieldname": "code", "fieldtype": "Data", "unique": 1},
			{"fieldname": "note", "fieldtype": "Data", "not_nullable": 1},
		}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Sheet", obj{"name": "a", "code": ""}).OK(t)
		s.Admin.Post("/api/resource/Sheet", obj{"name": "b", "code": "", "note": nil}).OK(t)
		s.Admin.Post("/api/resource/Sheet", obj{"name": "c", "code": "x"}).OK(t)
		s.Admin.Post("/api/resource/Sheet", obj{"name": "d", "code": "x"}).Fails(t, 417, "UniqueValidationError")
		s.Admin.Put("/api/resource/Sheet/c", obj{"code": ""}).OK(t)
		for _, name := range []string{"a", "b", "c"} {
			data := s.Admin.Get("/api/resource/Sheet/" + name).OK(t).Data(t)
			if code, there := data["code"]; there {
				t.Errorf("%s has the code %v", name, code)
			}
			if note := data["note"]; note != "" {
				t.Errorf("%s has the note %v, want an empty string", name, note)
			}
		}
	})
}

// TestFieldnamesOfTheDatabase: a field may have the name of a column that a
// database gives every table, or of a word of its language.
func TestFieldnamesOfTheDatabase(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		fields, doc := []obj{}, obj{"name": "one"}
		for _, name := range []string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "rowid", "order", "select", "user", "table"} {
			fields = append(fields, obj{"fieldname": name, "fieldtype": "Data"})
			doc[name] = "of " + name
		}
		newDocType(t, s.Admin, "Words", fields, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Words", doc).OK(t)
		data := s.Admin.Get("/api/resource/Words/one").OK(t).Data(t)
		for name, want := range doc {
			if data[name] != want {
				t.Errorf("%s is %v, want %v", name, data[name], want)
			}
		}
		got := s.Admin.Get("/api/resource/Words", "fields", []string{"ctid"}, "order_by", "tableoid",
			"filters", filters([]any{"xmin", "=", "of xmin"})).Column(t, "ctid")
		if len(got) != 1 || got[0] != "of ctid" {
			t.Errorf("listed %v", got)
		}
	})
}

// TestSumTooBig: a sum that no number can hold is the client's mistake.
func TestSumTooBig(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Heap", []obj{{"fieldname": "n", "fieldtype": "Long Int"}}, nil)
		for range 2 {
			s.Admin.Post("/api/resource/Heap", obj{"n": int64(math.MaxInt64)}).OK(t)
		}
		s.Admin.Get("/api/resource/Heap", "fields", []string{"sum(n) as n"}).Fails(t, 417, "ValidationError")
	})
}
