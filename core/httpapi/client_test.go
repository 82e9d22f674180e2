package httpapi_test

import (
	"reflect"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

const client = "/api/method/framework.client."

func TestBatch(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Box", []obj{{"fieldname": "size", "fieldtype": "Int"}}, obj{"autoname": "Prompt"})
		box := func(op, name string, doc obj) obj { return obj{"op": op, "doctype": "Box", "name": name, "doc": doc} }
		names := func() []any { return s.Admin.Get("/api/resource/Box", "order_by", "name asc").Column(t, "name") }

		t.Run("results in order", func(t *testing.T) {
			got := s.Admin.Post(client+"batch", obj{"operations": []obj{
				box("insert", "A", obj{"size": 1}), box("insert", "B", nil), {"op": "insert", "doc": obj{"doctype": "Box", "name": "C"}},
				box("update", "A", obj{"size": 2}), box("save", "D", obj{"size": 4}), box("delete", "B", nil),
				{"op": "rename", "doctype": "Box", "name": "C", "new_name": "E"},
			}}).Message(t).([]any)
			if len(got) != 7 || got[0].(obj)["name"] != "A" || got[3].(obj)["size"] != 2.0 || got[5] != nil || got[6] != "E" {
				t.Errorf("results %v", got)
			}
			if got := names(); !reflect.DeepEqual(got, []any{"A", "D", "E"}) {
				t.Errorf("stored %v", got)
			}
		})
		t.Run("all or nothing", func(t *testing.T) {
			r := s.Admin.Post(client+"batch", obj{"operations": []obj{box("insert", "X", nil), box("insert", "A", nil)}})
			r.Fails(t, 409, "DuplicateEntryError")
			if !strings.HasPrefix(r.Told(t), "operations[1] (insert Box): ") {
				t.Errorf("told %q", r.Told(t))
			}
			if got := names(); len(got) != 3 {
				t.Errorf("stored %v", got)
			}
		})
		t.Run("refused", func(t *testing.T) {
			many := make([]obj, 501)
			for i := range many {
				many[i] = box("delete", "none", nil)
			}
			s.Admin.Post(client+"batch", obj{"operations": many}).Fails(t, 417, "ValidationError")
			s.Admin.Post(client+"batch", obj{"operations": []any{"x"}}).Fails(t, 417, "DataError")
			s.Admin.Post(client+"batch", obj{"operations": []obj{box("drop", "A", nil)}}).Fails(t, 417, "ValidationError")
			s.Admin.Post(client+"batch", obj{"operations": []obj{{"op": "update", "doctype": "Box"}}}).Fails(t, 417, "TypeError")
			s.Admin.Post(client+"batch", obj{}).Fails(t, 417, "TypeError")
			s.Admin.Get(client+"batch", "operations", []obj{}).Fails(t, 403, "PermissionError")
			s.User(t, "nobody@example.com").Post(client+"batch", obj{"operations": []obj{box("insert", "Y", nil)}}).Fails(t, 403, "PermissionError")
		})
	})
}

func TestQuestionsAboutDocuments(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := s.User(t, "ann@example.com")
		own, other := newToDo(t, ann, nil), newToDo(t, s.Admin, nil)

		t.Run("explain_permission", func(t *testing.T) {
			got := ann.Get(client+"explain_permission", "doctype", "ToDo", "name", own, "perm_type", "write").Message(t).(obj)
			if got["allowed"] != true || !strings.Contains(got["because"].([]any)[1].(string), "All gives write") {
				t.Errorf("own: %v", got)
			}
			got = ann.Get(client+"explain_permission", "doctype", "ToDo", "name", other).Message(t).(obj)
			if got["allowed"] != false || len(got["because"].([]any)) == 0 {
				t.Errorf("other: %v", got)
			}
			ann.Get(client+"explain_permission", "doctype", "ToDo", "user", "Administrator").Fails(t, 403, "PermissionError")
			ann.Get(client+"explain_permission", "doctype", "ToDo", "perm_type", "fly").Fails(t, 417, "ValidationError")
		})
		t.Run("get_doc_permissions", func(t *testing.T) {
			got := ann.Get(client+"get_doc_permissions", "doctype", "ToDo", "docname", own).Message(t).(obj)["permissions"].(obj)
			if got["read"] != 1.0 || got["write"] != 1.0 || got["submit"] != 0.0 {
				t.Errorf("own: %v", got)
			}
			ann.Get(client+"get_doc_permissions", "doctype", "ToDo", "docname", other).Fails(t, 403, "PermissionError")
		})
		t.Run("validate_link", func(t *testing.T) {
			tests := []struct {
				name string
				want any
			}{{"High", "High"}, {"high", "High"}, {"h_gh", nil}, {"none", nil}}
			for _, tt := range tests {
				got := ann.Get(client+"validate_link", "doctype", "Priority", "docname", tt.name).Message(t).(obj)
				if got["name"] != tt.want {
					t.Errorf("%s: %v", tt.name, got)
				}
			}
			got := ann.Get(client+"validate_link_and_fetch", "doctype", "Priority", "docname", "low", "fields", []string{"title"}).Message(t)
			if !reflect.DeepEqual(got, obj{"name": "Low", "title": "Low"}) {
				t.Errorf("fetched %v", got)
			}
			ann.Get(client+"validate_link", "doctype", "DocType", "docname", "ToDo").Fails(t, 403, "PermissionError")
		})
		t.Run("get_time_zone", func(t *testing.T) {
			if got := s.Guest.Get(client + "get_time_zone").Message(t); !reflect.DeepEqual(got, obj{"time_zone": "UTC"}) {
				t.Errorf("got %v", got)
			}
		})
		t.Run("is_document_amended", func(t *testing.T) {
			newDocType(t, s.Admin, "Deed", nil, obj{"is_submittable": 1, "permissions": []obj{{"role": "System Manager", "read": 1,
				"write": 1, "create": 1, "submit": 1, "cancel": 1, "amend": 1}}})
			name := s.Admin.Post("/api/resource/Deed", obj{"docstatus": 1}).Data(t)["name"].(string)
			amended := func() any {
				return s.Admin.Get(client+"is_document_amended", "doctype", "Deed", "docname", name).Message(t)
			}
			if got := amended(); got != false {
				t.Errorf("got %v", got)
			}
			s.Admin.Put("/api/resource/Deed/"+name, obj{"docstatus": 2}).OK(t)
			s.Admin.Post("/api/resource/Deed", obj{"amended_from": name}).OK(t)
			if got := amended(); got != name+"-1" {
				t.Errorf("got %v", got)
			}
			if got := ann.Get(client+"is_document_amended", "doctype", "ToDo", "docname", own).Message(t); got != false {
				t.Errorf("got %v", got)
			}
		})
	})
}
