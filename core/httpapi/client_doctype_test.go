package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestDocTypesForForms: whoever reaches a document is shown the DocType as a form is drawn
// by it, at their levels, and nothing of who may what or where it is stored.
func TestDocTypesForForms(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const client = "/api/method/framework.client."
		newDocType(t, s.Admin, "Lid", []obj{{"fieldname": "size", "fieldtype": "Int"}, {"fieldname": "inner", "fieldtype": "Data", "permlevel": 1}}, obj{"istable": 1})
		newDocType(t, s.Admin, "Pot", []obj{
			{"fieldname": "colour", "fieldtype": "Data", "in_list_view": 1, "description": "Of the outside"},
			{"fieldname": "cost", "fieldtype": "Currency", "permlevel": 1},
			{"fieldname": "lids", "fieldtype": "Table", "options": "Lid"},
		}, obj{"permissions": []obj{{"role": "All", "read": 1, "create": 1}, {"role": "System Manager", "read": 1}, {"role": "System Manager", "read": 1, "write": 1, "permlevel": 1}}})
		ann := s.User(t, "ann@example.com")

		got := ann.Get(client+"get_doctype", "doctype", "Pot").Message(t).(obj)
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"in_list_view":1`, `"description":"Of the outside"`, `"Lid":`, `"rights":["read","create"]`, `"read_levels":[0]`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		for _, not := range []string{"cost", "inner", "table_name", "column_name", "definition_hash", "System Manager", `"permissions"`} {
			if strings.Contains(string(text), not) {
				t.Errorf("%s is in %s", not, text)
			}
		}
		if text, _ := json.Marshal(s.Admin.Get(client+"get_doctype", "doctype", "Pot").Message(t)); !strings.Contains(string(text), "cost") || !strings.Contains(string(text), "inner") {
			t.Errorf("the Administrator is shown %s", text)
		}
		ann.Get(client+"get_doctype", "doctype", "Lid").Fails(t, 403, "PermissionError")
		ann.Get(client+"get_doctype", "doctype", "DocType").Fails(t, 403, "PermissionError")
		ann.Get(client+"get_doctype", "doctype", "Nothing").Fails(t, 404, "DoesNotExistError")
		ann.Get(client+"get_doctype").Fails(t, 417, "TypeError")
		s.Guest.Get(client+"get_doctype", "doctype", "Pot").Fails(t, 403, "PermissionError")

		list, err := json.Marshal(ann.Get(client + "get_doctypes").Message(t))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(list), `"name":"Pot"`) || strings.Contains(string(list), `"name":"Lid"`) || strings.Contains(string(list), `"name":"DocType"`) {
			t.Errorf("the list is %s", list)
		}
	})
}
