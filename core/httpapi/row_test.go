package httpapi_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestRowByItsName: a row that is created or changed by itself is a change of the
// document it belongs to.
func TestRowByItsName(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Line", []obj{{"fieldname": "item", "fieldtype": "Data", "reqd": 1}}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Bill", []obj{{"fieldname": "lines", "fieldtype": "Table", "options": "Line"}},
			obj{"autoname": "Prompt", "track_changes": 1})
		before := s.Admin.Post("/api/resource/Bill", obj{"name": "B", "lines": []obj{{"item": "one"}, {"item": "two"}}}).OK(t).Data(t)
		first := before["lines"].([]any)[0].(obj)
		path := "/api/resource/Line/" + first["name"].(string)
		row := s.Admin.Put(path, obj{"item": "changed", "parent": "other", "idx": 7}).OK(t).Data(t)
		if row["item"] != "changed" || row["name"] != first["name"] || row["parent"] != "B" || row["idx"] != 1.0 {
			t.Errorf("answered %v", row)
		}
		s.Admin.Put(path, obj{"item": ""}).Fails(t, 417, "MandatoryError")
		s.Admin.Put(path, obj{"item": "x", "modified": "2001-01-01 00:00:00"}).Fails(t, 417, "TimestampMismatchError")
		s.Admin.Post("/api/resource/Line", obj{"item": "three"}).Fails(t, 417, "ValidationError")
		s.Admin.Post("/api/resource/Line", obj{"item": "three", "parent": "B", "parenttype": "Bill", "parentfield": "none"}).Fails(t, 417, "ValidationError")
		row = s.Admin.Post("/api/resource/Line", obj{"item": "three", "parent": "B", "parenttype": "Bill", "parentfield": "lines"}).OK(t).Data(t)
		if row["item"] != "three" || row["idx"] != 3.0 || row["doctype"] != "Line" {
			t.Errorf("added %v", row)
		}
		after := s.Admin.Get("/api/resource/Bill/B").OK(t).Data(t)
		if lines := after["lines"].([]any); len(lines) != 3 || after["modified"] == before["modified"] {
			t.Errorf("the document is %v", after)
		}
		if n := len(s.Admin.Get("/api/resource/Version", "filters", filters([]any{"docname", "=", "B"})).List(t)); n != 2 {
			t.Errorf("%d versions, want 2", n)
		}
		s.Admin.Delete("/api/resource/DocType/Line").Fails(t, 417, "LinkExistsError")
	})
}

// TestRowsOfAHigherLevel: whoever may not change a table cannot change its rows
// one by one; a user's roles are such a table.
func TestRowsOfAHigherLevel(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := s.User(t, "ann@example.com", "Desk User")
		user := s.Admin.Get("/api/resource/User/ann@example.com").OK(t).Data(t)
		roles := user["roles"].([]any)
		if len(roles) == 0 {
			t.Fatal("ann has no role")
		}
		path := "/api/resource/Has%20Role/" + roles[0].(obj)["name"].(string)
		ann.Put(path, obj{"role": "System Manager"}).Fails(t, 403, "PermissionError")
		ann.Get(path).Fails(t, 403, "PermissionError")
		ann.Post("/api/resource/Has%20Role", obj{
			"role": "System Manager", "parent": "ann@example.com", "parenttype": "User", "parentfield": "roles",
		}).Fails(t, 403, "PermissionError")
		for _, role := range s.Admin.Get("/api/resource/User/ann@example.com").OK(t).Data(t)["roles"].([]any) {
			if role.(obj)["role"] == "System Manager" {
				t.Error("ann has made herself System Manager")
			}
		}
	})
}
