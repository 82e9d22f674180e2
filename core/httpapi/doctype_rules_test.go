package httpapi_test

import (
	"fmt"
	"reflect"
	"testing"

	"armature/core/sites/sitetest"
)

// TestNumberedNames: names of an autoincrement DocType are numbers wherever
// they are compared and sorted.
func TestNumberedNames(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Ticket", []obj{{"fieldname": "kind", "fieldtype": "Data"}}, obj{"autoname": "autoincrement"})
		newDocType(t, s.Admin, "Reply", []obj{{"fieldname": "ticket", "fieldtype": "Link", "options": "Ticket"}}, nil)
		for i := range 12 {
			s.Admin.Post("/api/resource/Ticket", obj{"kind": []string{"odd", "even"}[i%2]}).OK(t)
		}
		s.Admin.Post("/api/resource/Reply", obj{"ticket": 10}).OK(t)
		tests := []struct {
			name, doctype string
			params        []any
			want          []any
		}{
			{"ascending", "Ticket", []any{"order_by", "name asc", "limit", "3"}, []any{1.0, 2.0, 3.0}},
			{"descending", "Ticket", []any{"order_by", "name desc", "limit", "4"}, []any{12.0, 11.0, 10.0, 9.0}},
			{"by an alias", "Ticket", []any{"fields", `["name as n"]`, "order_by", "n desc", "limit", "2"}, []any{12.0, 11.0}},
			{"by position", "Ticket", []any{"order_by", "1 desc", "limit", "2"}, []any{12.0, 11.0}},
			{"more than", "Ticket", []any{"filters", `[["name",">",9]]`, "order_by", "name"}, []any{10.0, 11.0, 12.0}},
			{"at most", "Ticket", []any{"filters", `[["name","<=","2"]]`, "order_by", "name"}, []any{1.0, 2.0}},
			{"between", "Ticket", []any{"filters", `[["name","between",[9,11]]]`, "order_by", "name"}, []any{9.0, 10.0, 11.0}},
			{"more than a negative number", "Ticket", []any{"filters", `[["name",">",-5]]`, "order_by", "name", "limit", "2"}, []any{1.0, 2.0}},
			{"equal to a number with a zero in front", "Ticket", []any{"filters", `[["name","=","07"]]`}, []any{7.0}},
			{"the greatest", "Ticket", []any{"fields", `["max(name) as n"]`}, []any{12.0}},
			{"the least of a group, sorted", "Ticket", []any{"fields", `["min(name) as n","kind"]`, "group_by", "kind", "order_by", "name desc"}, []any{2.0, 1.0}},
			{"through a link", "Reply", []any{"fields", `["ticket.name as n"]`, "filters", `[["ticket.name",">",9]]`}, []any{10.0}},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				key := "name"
				if test.params[0] == "fields" {
					key = "n"
				}
				got := s.Admin.On(t).Get("/api/resource/"+test.doctype, test.params...).Column(t, key)
				if !reflect.DeepEqual(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		}
		// Documents that have words for names do not turn up among numbers.
		newDocType(t, s.Admin, "Was Named", nil, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Was%20Named", obj{"name": "word"}).OK(t)
		if r := s.Admin.Delete("/api/resource/DocType/Was%20Named"); r.Status != 202 {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		newDocType(t, s.Admin, "Was Named", nil, obj{"autoname": "autoincrement"})
		s.Admin.Post("/api/resource/Was%20Named", obj{}).OK(t)
		if got := s.Admin.Get("/api/resource/Was%20Named").Column(t, "name"); !reflect.DeepEqual(got, []any{1.0}) {
			t.Errorf("got %v", got)
		}
	})
}

// TestNewFieldsOfOldDocuments: documents from before a number field have its
// default, and keep their own values when a field comes back.
func TestNewFieldsOfOldDocuments(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Old", []obj{{"fieldname": "a", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Old", obj{"name": "before"}).OK(t)
		fields := []obj{
			{"fieldname": "n", "fieldtype": "Int", "default": "5"}, {"fieldname": "c", "fieldtype": "Check", "default": "1"},
			{"fieldname": "f", "fieldtype": "Float", "default": "-2.5"}, {"fieldname": "z", "fieldtype": "Int"},
			{"fieldname": "t", "fieldtype": "Data", "default": "text"},
		}
		change := func(fields []obj) {
			t.Helper()
			s.Admin.Put("/api/resource/DocType/Old", obj{"fields": fields}).OK(t)
		}
		expect := func(n, c, f, z float64) {
			t.Helper()
			got := s.Admin.Get("/api/resource/Old/before").Data(t)
			if got["n"] != n || got["c"] != c || got["f"] != f || got["z"] != z || got["t"] != nil {
				t.Errorf("got %v", got)
			}
		}
		change(fields)
		expect(5, 1, -2.5, 0)
		s.Admin.Put("/api/resource/Old/before", obj{"n": 0, "c": 0, "f": 0}).OK(t)
		change([]obj{{"fieldname": "a", "fieldtype": "Data"}})
		s.Admin.Post("/api/resource/Old", obj{"name": "meanwhile"}).OK(t)
		change(fields)
		expect(0, 0, 0, 0)
		for typ, text := range map[string]string{"Int": "abc", "Check": "yes", "Float": "1,5", "Date": "soon"} {
			s.Admin.Put("/api/resource/DocType/Old", obj{"fields": []obj{{"fieldname": "bad", "fieldtype": typ, "default": text}}}).
				Fails(t, 417, "ValidationError")
		}
		change([]obj{{"fieldname": "d", "fieldtype": "Date", "default": "Today"}, {"fieldname": "m", "fieldtype": "Datetime", "default": "now"}, {"fieldname": "k", "fieldtype": "Time", "default": "Now"}})
	})
}

// TestDefinitionNamesFields: what a definition says of fields names fields.
func TestDefinitionNamesFields(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		fields := []obj{{"fieldname": "kind", "fieldtype": "Data"}, {"fieldname": "one", "fieldtype": "Dynamic Link", "options": "kind"}}
		newDocType(t, s.Admin, "Naming Fields", fields, nil)
		put := func(body obj) *sitetest.Reply { return s.Admin.Put("/api/resource/DocType/Naming%20Fields", body) }
		for _, key := range []string{"title_field", "search_fields", "image_field", "subject_field", "sort_field"} {
			put(obj{key: "nothing"}).Fails(t, 417, "ValidationError")
			put(obj{key: "kind"}).OK(t)
		}
		put(obj{"search_fields": "kind, nothing"}).Fails(t, 417, "ValidationError")
		put(obj{"search_fields": "kind, one, name"}).OK(t)
		put(obj{"fields": []obj{{"fieldname": "one", "fieldtype": "Dynamic Link", "options": "nothing"}}}).Fails(t, 417, "ValidationError")
	})
}

// TestLikeOnOtherTypes: a pattern is compared with what a client sees of a
// value, dates and numbers included.
func TestLikeOnOtherTypes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Alike", []obj{{"fieldname": "d", "fieldtype": "Date"}, {"fieldname": "m", "fieldtype": "Datetime"}, {"fieldname": "n", "fieldtype": "Int"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Alike", obj{"name": "a", "d": "2024-01-31", "m": "2024-01-31 10:20:30.5", "n": 120}).OK(t)
		s.Admin.Post("/api/resource/Alike", obj{"name": "b", "d": "2024-02-01", "m": "2023-01-31 10:20:30", "n": 21}).OK(t)
		for filter, want := range map[string][]any{
			`["d","like","2024-01%"]`: {"a"}, `["m","like","2024%"]`: {"a"}, `["m","like","%10:20:30.5%"]`: {"a"},
			`["n","like","12%"]`: {"a"}, `["n","like","%2%"]`: {"a", "b"}, `["d","not like","2024-01%"]`: {"b"}, `["creation","like","2%"]`: {"a", "b"},
		} {
			if got := s.Admin.Get("/api/resource/Alike", "filters", "["+filter+"]", "order_by", "name").Column(t, "name"); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", filter, got, want)
			}
		}
	})
}

// TestSmallRules: single rules of the reference's tables.
func TestSmallRules(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		t.Run("a child table is listed through a parent", func(t *testing.T) {
			s.Admin.On(t).Get("/api/resource/DocField", "limit", "1").Fails(t, 403, "PermissionError")
			s.Admin.On(t).Get("/api/resource/DocField", "limit", "1", "parent", "ToDo").Fails(t, 403, "PermissionError")
			s.Admin.On(t).Get("/api/resource/DocField", "limit", "1", "parent", "DocType").OK(t)
		})
		t.Run("a name may come as a number", func(t *testing.T) {
			newDocType(t, s.Admin.On(t), "Prompted", nil, obj{"autoname": "Prompt"})
			if got := s.Admin.On(t).Post("/api/resource/Prompted", obj{"name": 5}).Data(t)["name"]; got != "5" {
				t.Errorf("named %v", got)
			}
			for _, bad := range []any{true, []any{"x"}, obj{"a": 1}} {
				s.Admin.On(t).Post("/api/resource/Prompted", obj{"name": bad}).Fails(t, 417, "DataError")
			}
		})
		t.Run("who am I", func(t *testing.T) {
			path := "/api/method/framework.realtime.get_user_info"
			for who, c := range map[string]*sitetest.Client{"Administrator": s.Admin, "Guest": s.Guest} {
				if got := fmt.Sprint(c.On(t).Get(path).Message(t)); got != fmt.Sprint(obj{"user": who}) {
					t.Errorf("%s is %s", who, got)
				}
			}
		})
	})
}
