package httpapi_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestRowNames: rows are named by the rule of their DocType, and a row that comes
// back without its name is known by the field that names it.
func TestRowNames(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		rows := func(name, autoname string) {
			newDocType(t, s.Admin, name+" Row", []obj{{"fieldname": "code", "fieldtype": "Data"}, {"fieldname": "n", "fieldtype": "Int"}},
				obj{"istable": 1, "permissions": nil, "autoname": autoname})
			newDocType(t, s.Admin, name, []obj{{"fieldname": "rows", "fieldtype": "Table", "options": name + " Row"}}, obj{"autoname": "Prompt"})
		}
		first := func(d obj) obj { return d["rows"].([]any)[0].(obj) }

		rows("By Field", "field:code")
		path := "/api/resource/By Field"
		if r := first(s.Admin.Post(path, obj{"name": "A", "rows": []obj{{"code": " x ", "n": 1}}}).Data(t)); r["name"] != "x" || r["code"] != "x" {
			t.Errorf("the row is %v", r)
		}
		d := s.Admin.Put(path+"/A", obj{"rows": []obj{{"code": "x", "n": 2}, {"code": "y"}}}).Data(t)
		if r := first(d); r["name"] != "x" || r["n"] != 2. || len(d["rows"].([]any)) != 2 {
			t.Errorf("the rows are %v", d["rows"])
		}
		if r := first(s.Admin.Put(path+"/A", obj{"rows": []obj{{"name": "x", "code": "z"}}}).Data(t)); r["name"] != "x" || r["code"] != "x" {
			t.Errorf("a changed naming field gives %v", r)
		}
		s.Admin.Post(path, obj{"name": "B", "rows": []obj{{"n": 1}}}).Fails(t, 417, "ValidationError")
		s.Admin.Post(path, obj{"name": "B", "rows": []obj{{"code": "New By Field Row 1"}}}).Fails(t, 409, "NameError")
		s.Admin.Post(path, obj{"name": "B", "rows": []obj{{"code": "q"}, {"code": "q"}}}).Fails(t, 409, "DuplicateEntryError")
		s.Admin.Post(path, obj{"name": "B", "rows": []obj{{"code": "x"}}}).Fails(t, 409, "DuplicateEntryError")
		s.Admin.Get(path+"/B").Fails(t, 404, "DoesNotExistError")

		rows("By Number", "autoincrement")
		path = "/api/resource/By Number"
		if r := first(s.Admin.Post(path, obj{"name": "A", "rows": []obj{{"n": 1}}}).Data(t)); r["name"] != 1. {
			t.Errorf("the row is %v", r)
		}
		if r := first(s.Admin.Put(path+"/A", obj{"rows": []obj{{"name": 1, "n": 5}, {"n": 6}}}).Data(t)); r["name"] != 1. || r["n"] != 5. {
			t.Errorf("the row is %v", r)
		}

		rows("By Series", "R-.##")
		if r := first(s.Admin.Post("/api/resource/By Series", obj{"name": "A", "rows": []obj{{"n": 1}}}).Data(t)); r["name"] != "R-01" {
			t.Errorf("the row is %v", r)
		}
		rows("By Choice", "Prompt")
		path = "/api/resource/By Choice"
		if r := first(s.Admin.Post(path, obj{"name": "A", "rows": []obj{{"name": "mine"}}}).Data(t)); r["name"] != "mine" {
			t.Errorf("the row is %v", r)
		}
		s.Admin.Post(path, obj{"name": "B", "rows": []obj{{"n": 1}}}).Fails(t, 409, "NameError")
	})
}

// TestSetOnlyOnce: a field that is set only once keeps its value, a table its rows,
// by whichever door the change comes.
func TestSetOnlyOnce(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Leg", []obj{{"fieldname": "to", "fieldtype": "Data"}, {"fieldname": "fixed", "fieldtype": "Data", "set_only_once": 1}},
			obj{"istable": 1, "permissions": nil})
		newDocType(t, s.Admin, "Journey", []obj{{"fieldname": "kept", "fieldtype": "Table", "options": "Leg", "set_only_once": 1},
			{"fieldname": "free", "fieldtype": "Table", "options": "Leg"}, {"fieldname": "code", "fieldtype": "Data", "set_only_once": 1}},
			obj{"autoname": "Prompt"})
		path := "/api/resource/Journey/J"
		s.Admin.Post("/api/resource/Journey", obj{"name": "J", "code": ""}).OK(t)
		s.Admin.Put(path, obj{"code": "c", "kept": []obj{{"to": "A"}, {"to": "B"}}, "free": []obj{{"to": "A", "fixed": "f"}}}).OK(t)
		before := s.Admin.Get(path).Data(t)
		kept := before["kept"].([]any)
		for what, change := range map[string]obj{
			"a value": {"code": "d"}, "no value": {"code": ""}, "null": {"code": nil},
			"fewer rows": {"kept": kept[:1]}, "no rows": {"kept": []obj{}}, "null for rows": {"kept": nil},
			"more rows":         {"kept": append(append([]any{}, kept...), obj{"to": "C"})},
			"another order":     {"kept": []any{kept[1], kept[0]}},
			"a changed row":     {"kept": []any{kept[0], obj{"name": kept[1].(obj)["name"], "to": "C"}}},
			"a field of a row":  {"free": []any{obj{"name": before["free"].([]any)[0].(obj)["name"], "fixed": "g"}}},
			"rows of other say": {"kept": []obj{{"to": "A"}, {"to": "C"}}},
		} {
			if r := s.Admin.Put(path, change); r.Status != 417 || r.Body["exc_type"] != "CannotChangeConstantError" {
				t.Errorf("%s: %d %s", what, r.Status, r.Text)
			}
		}
		row := kept[0].(obj)["name"].(string)
		s.Admin.Put("/api/resource/Leg/"+row, obj{"to": "X"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Post("/api/resource/Leg", obj{"parenttype": "Journey", "parent": "J", "parentfield": "kept", "to": "X"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Post(client+"set_value", obj{"doctype": "Journey", "name": "J", "fieldname": "code", "value": "z"}).Fails(t, 417, "CannotChangeConstantError")
		s.Admin.Put(path, obj{"kept": kept, "code": "c"}).OK(t)
		again := s.Admin.Put(path, obj{"kept": []obj{{"to": "A"}, {"to": "B"}}}).Data(t)
		if got := again["kept"].([]any); got[0].(obj)["name"] != row || len(got) != 2 {
			t.Errorf("the same rows without their names became %v", got)
		}
	})
}

// TestDynamicLinkNeedsItsType: a name of nobody knows what is no link.
func TestDynamicLinkNeedsItsType(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		fields := []obj{{"fieldname": "kind", "fieldtype": "Link", "options": "DocType"}, {"fieldname": "about", "fieldtype": "Dynamic Link", "options": "kind"}}
		newDocType(t, s.Admin, "Hint Row", fields, obj{"istable": 1, "permissions": nil})
		newDocType(t, s.Admin, "Hint", append([]obj{{"fieldname": "rows", "fieldtype": "Table", "options": "Hint Row"}}, fields...), obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Hint", obj{"name": "H", "about": "Guest"}).Fails(t, 417, "ValidationError")
		s.Admin.Post("/api/resource/Hint", obj{"name": "H", "kind": " ", "about": "Guest"}).Fails(t, 417, "ValidationError")
		s.Admin.Post("/api/resource/Hint", obj{"name": "H", "rows": []obj{{"about": "Guest"}}}).Fails(t, 417, "ValidationError")
		s.Admin.Post("/api/resource/Hint", obj{"name": "H", "kind": "User", "about": "Guest"}).OK(t)
		s.Admin.Put("/api/resource/Hint/H", obj{"kind": nil}).Fails(t, 417, "ValidationError")
		s.Admin.Put("/api/resource/Hint/H", obj{"kind": nil, "about": nil}).OK(t)
		s.Admin.Post(todo, obj{"description": "d", "reference_name": "x"}).Fails(t, 417, "ValidationError")
	})
}
