package httpapi_test

import (
	"fmt"
	"testing"

	"armature/core/sites/sitetest"
)

// TestLinksOfOtherProcesses: what a DocType links to that another process has just
// made is kept from being deleted and cancelled here, and the links follow a
// rename: this process need not have heard of the DocType.
func TestLinksOfOtherProcesses(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		twin := s.Twin(t)
		title := []obj{{"fieldname": "title", "fieldtype": "Data"}}
		rights := []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "submit": 1, "cancel": 1}}
		newDocType(t, s.Admin, "Part", title, obj{"autoname": "Prompt", "allow_rename": 1, "is_submittable": 1, "permissions": rights})
		for i := range 4 {
			part := fmt.Sprint("P", i)
			twin.Admin.Post("/api/resource/Part", obj{"name": part, "docstatus": 1}).OK(t) // the twin knows parts
			uses := fmt.Sprint("Use ", i)
			newDocType(t, s.Admin, uses, []obj{{"fieldname": "part", "fieldtype": "Link", "options": "Part"}},
				obj{"autoname": "Prompt", "is_submittable": 1, "permissions": rights})
			path := "/api/resource/" + uses + "/U"
			s.Admin.Post("/api/resource/"+uses, obj{"name": "U", "part": part, "docstatus": 1}).OK(t)
			switch i % 2 {
			case 0:
				twin.Admin.Put("/api/resource/Part/"+part, obj{"docstatus": 2}).Fails(t, 417, "LinkExistsError")
				s.Admin.Put(path, obj{"docstatus": 2}).OK(t)
				twin.Admin.Put("/api/resource/Part/"+part, obj{"docstatus": 2}).OK(t)
				twin.Admin.Delete("/api/resource/Part/"+part).Fails(t, 417, "LinkExistsError")
			case 1:
				twin.Admin.Post("/api/method/framework.client.rename_doc",
					obj{"doctype": "Part", "old_name": part, "new_name": part + " new"}).OK(t)
				if got := s.Admin.Get(path).OK(t).Data(t)["part"]; got != part+" new" {
					t.Errorf("the link still names %v", got)
				}
			}
		}
	})
}

// TestChildTablesOfOtherProcesses: a child table that another process has just put
// into a DocType is not deleted here.
func TestChildTablesOfOtherProcesses(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		twin := s.Twin(t)
		newDocType(t, s.Admin, "Row", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"istable": 1, "permissions": []obj{}})
		twin.Admin.Get("/api/resource/DocType/Row").OK(t)
		newDocType(t, s.Admin, "Sheet", []obj{{"fieldname": "rows", "fieldtype": "Table", "options": "Row"}}, nil)
		twin.Admin.Delete("/api/resource/DocType/Row").Fails(t, 417, "LinkExistsError")
	})
}
