package httpapi_test

import (
	"fmt"
	"slices"
	"testing"

	"armature/core/sites/sitetest"
)

// unknown lists what an answer names as unknown.
func unknown(r *sitetest.Reply) []string {
	list, _ := r.Body["_unknown_fields"].([]any)
	var names []string
	for _, name := range list {
		names = append(names, name.(string))
	}
	return names
}

// TestUnknownFields: what a write names and the DocType does not have is named in
// the answer of every door, or refused where the site wants that.
func TestUnknownFields(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Line", []obj{{"fieldname": "item", "fieldtype": "Data"}}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Bill", []obj{{"fieldname": "lines", "fieldtype": "Table", "options": "Line"}, {"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		const path = "/api/resource/Bill"
		client := func(name string, body obj) *sitetest.Reply {
			return s.Admin.Post("/api/method/framework.client."+name, body)
		}
		doors := map[string]func(name string) *sitetest.Reply{
			"POST": func(name string) *sitetest.Reply {
				return s.Admin.Post(path, obj{"name": name, "colour": 1, "lines": []obj{{"item": "a", "weight": 2}}})
			},
			"PUT": func(string) *sitetest.Reply {
				return s.Admin.Put(path+"/B", obj{"colour": 1, "title": "x", "lines": []obj{{"item": "a", "weight": 2}}})
			},
			"insert": func(name string) *sitetest.Reply {
				return client("insert", obj{"doc": obj{"doctype": "Bill", "name": name, "colour": 1, "lines": []obj{{"weight": 2}}}})
			},
			"insert_many": func(name string) *sitetest.Reply {
				return client("insert_many", obj{"docs": []obj{{"doctype": "Bill", "name": name, "colour": 1}, {"doctype": "Bill", "name": name + " 2", "lines": []obj{{"weight": 2}}}}})
			},
			"save": func(string) *sitetest.Reply {
				return client("save", obj{"doc": obj{"doctype": "Bill", "name": "B", "colour": 1, "lines": []obj{{"weight": 2}}}})
			},
			"set_value": func(string) *sitetest.Reply {
				return client("set_value", obj{"doctype": "Bill", "name": "B", "fieldname": obj{"colour": 1, "lines": []obj{{"weight": 2}}}})
			},
			"batch": func(name string) *sitetest.Reply {
				return client("batch", obj{"operations": []obj{{"op": "insert", "doc": obj{"doctype": "Bill", "name": name, "colour": 1, "lines": []obj{{"weight": 2}}}}}})
			},
		}
		rowDoors := map[string]func() *sitetest.Reply{
			"a row by insert": func() *sitetest.Reply {
				return client("insert", obj{"doc": obj{"doctype": "Line", "parent": "B", "parenttype": "Bill", "parentfield": "lines", "weight": 2}})
			},
			"a row by POST": func() *sitetest.Reply {
				return s.Admin.Post("/api/resource/Line", obj{"parent": "B", "parenttype": "Bill", "parentfield": "lines", "weight": 2})
			},
		}
		s.Admin.Post(path, obj{"name": "B", "title": "t", "doctype": "Bill", "__islocal": 1, "docstatus": 0}).OK(t)
		for door, ask := range doors {
			if names := unknown(ask("by " + door).OK(t)); !slices.Equal(names, []string{"colour", "lines.weight"}) {
				t.Errorf("%s names %q", door, names)
			}
		}
		for door, ask := range rowDoors {
			if names := unknown(ask().OK(t)); !slices.Contains(names, "weight") && !slices.Contains(names, "lines.weight") {
				t.Errorf("%s names %q", door, names)
			}
		}
		for _, r := range []*sitetest.Reply{
			s.Admin.Put(path+"/B", obj{"title": "y", "modified_by": "x", "__unsaved": 1}), s.Admin.Get(path + "/B"),
			client("set_value", obj{"doctype": "Bill", "name": "B", "fieldname": "title", "value": "z"}),
		} {
			if r.OK(t); r.Body["_unknown_fields"] != nil {
				t.Errorf("%s", r.Text)
			}
		}
		s.Configure(t, "unknown_fields", `"refuse"`)
		for door, ask := range doors {
			if r := ask("refused by " + door); r.Status != 417 {
				t.Errorf("%s: %d %s", door, r.Status, r.Text)
			}
		}
		for door, ask := range rowDoors {
			if r := ask(); r.Status != 417 {
				t.Errorf("%s: %d %s", door, r.Status, r.Text)
			}
		}
		s.Admin.Put(path+"/B", obj{"title": "still", "doctype": "Bill", "__unsaved": 1}).OK(t)
	})
}

// TestFieldsOfOtherProcesses: a field, and a DocType, that one process has made is
// there at once in another.
func TestFieldsOfOtherProcesses(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		twin := s.Twin(t)
		fields := []any{obj{"fieldname": "title", "fieldtype": "Data"}}
		newDocType(t, s.Admin, "Thing", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		twin.Admin.Post("/api/resource/Thing", obj{"name": "T", "title": "t"}).OK(t)
		for i := range 6 {
			field := fmt.Sprint("field_", i)
			fields = append(fields, obj{"fieldname": field, "fieldtype": "Data"})
			s.Admin.Put("/api/resource/DocType/Thing", obj{"fields": fields}).OK(t)
			var r *sitetest.Reply
			switch i % 3 {
			case 0:
				r = twin.Admin.Put("/api/resource/Thing/T", obj{field: "kept"})
			case 1:
				r = twin.Admin.Post("/api/method/framework.client.set_value", obj{"doctype": "Thing", "name": "T", "fieldname": field, "value": "kept"})
			case 2:
				r = twin.Admin.Post("/api/method/framework.client.save", obj{"doc": obj{"doctype": "Thing", "name": "T", field: "kept"}})
			}
			r.OK(t)
			if got := s.Admin.Get("/api/resource/Thing/T").OK(t).Data(t)[field]; got != "kept" || unknown(r) != nil {
				t.Errorf("%s is %v after %s", field, got, r.Text)
			}
		}
	})
}
