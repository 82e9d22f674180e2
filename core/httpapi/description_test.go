package httpapi_test

import (
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

func TestDescription(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Line Item", []obj{{"fieldname": "item", "fieldtype": "Data"}}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Sales Order", []obj{
			{"fieldname": "state", "fieldtype": "Select", "options": "New\nPaid"},
			{"fieldname": "lines", "fieldtype": "Table", "options": "Line Item"},
		}, nil)
		admin := s.Admin.Get("/api/openapi.json").OK(t)
		paths := admin.Body["paths"].(obj)
		for _, path := range []string{"/api/resource/Sales%20Order", "/api/resource/Sales%20Order/{name}", "/api/resource/ToDo", "/api/method/framework.client.get_list"} {
			if paths[path] == nil {
				t.Errorf("no path %s", path)
			}
		}
		if paths["/api/resource/Line%20Item"] != nil {
			t.Error("a child table has no path of its own")
		}
		if !strings.Contains(admin.Text, `"#/components/schemas/Line.Item"`) {
			t.Error("the rows of a table have their schema")
		}
		guest := s.Guest.Get("/api/openapi.json").OK(t).Body["paths"].(obj)
		if guest["/api/resource/ToDo"] != nil || guest["/api/method/ping"] == nil {
			t.Errorf("a guest sees what a guest may do: %v", guest)
		}
		clerk := s.User(t, "clerk@example.com").Get("/api/openapi.json").OK(t).Body["paths"].(obj)
		if clerk["/api/resource/ToDo"] == nil || clerk["/api/resource/Sales%20Order"] != nil {
			t.Error("a user sees what the user's roles allow")
		}
	})
}

// TestDescriptionOfRows: the fields of rows are shown at the levels of the documents
// that they are in.
func TestDescriptionOfRows(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Cost Line", []obj{
			{"fieldname": "item", "fieldtype": "Data"}, {"fieldname": "margin", "fieldtype": "Float", "permlevel": 1},
		}, obj{"istable": 1, "permissions": []obj{}})
		newDocType(t, s.Admin, "Offer", []obj{{"fieldname": "lines", "fieldtype": "Table", "options": "Cost Line"}},
			obj{"permissions": []obj{{"role": "All", "read": 1}, {"role": "System Manager", "read": 1, "write": 1}, {"role": "System Manager", "permlevel": 1, "read": 1}}})
		shown := func(text string) bool { return strings.Contains(text, `"margin"`) }
		if !shown(s.Admin.Get("/api/openapi.json").OK(t).Text) {
			t.Error("who sees the level does not see the field")
		}
		clerk := s.User(t, "clerk@example.com").Get("/api/openapi.json").OK(t)
		if !strings.Contains(clerk.Text, "Cost.Line") || shown(clerk.Text) {
			t.Error("a field of rows above the levels of who asks is described")
		}
	})
}
