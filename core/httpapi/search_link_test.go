package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestSearchLink: what somebody types into a link finds what a list of theirs would, by
// name, title and search fields, and nothing that they may not see.
func TestSearchLink(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "method_aliases", `{"frappe.": "framework."}`)
		perm := []obj{{"role": "Clerk", "read": 1}, {"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "System Manager", "read": 1, "permlevel": 1}}
		s.Admin.Post("/api/resource/Role", obj{"role_name": "Clerk"}).OK(t)
		newDocType(t, s.Admin, "Firm", []obj{
			{"fieldname": "title", "fieldtype": "Data"}, {"fieldname": "city", "fieldtype": "Data"}, {"fieldname": "secret_note", "fieldtype": "Data", "permlevel": 1},
		}, obj{"autoname": "Prompt", "title_field": "title", "search_fields": "city, secret_note", "permissions": perm})
		for _, f := range [][4]string{{"F-1", "Ada & Sons", "Paris", "100% gold"}, {"F-2", "Bob_Co", "Rome", "x"}, {"F-3", "Cay", "Paris", "x"}} {
			s.Admin.Post("/api/resource/Firm", obj{"name": f[0], "title": f[1], "city": f[2], "secret_note": f[3]}).OK(t)
		}
		clerk := s.User(t, "clerk@example.com", "Clerk")
		found := func(c *sitetest.Client, params ...any) string {
			t.Helper()
			var names []string
			for _, link := range c.Get("/api/method/frappe.desk.search.search_link", append([]any{"doctype", "Firm"}, params...)...).OK(t).Body["message"].([]any) {
				l := link.(obj)
				names = append(names, fmt.Sprint(l["value"], "/", l["label"], "/", l["description"]))
			}
			return strings.Join(names, "; ")
		}
		if got := found(clerk, "txt", "ada"); got != "F-1/Ada & Sons/Paris" {
			t.Errorf("by the title: %s", got)
		}
		if got := found(s.Admin, "txt", "F-2"); got != "F-2/Bob_Co/Rome, x" {
			t.Errorf("by the name: %s", got)
		}
		for text, want := range map[string]int{"paris": 2, "": 3, "%": 0, "_": 1, "gold": 0, `\`: 0, strings.Repeat("x", 5000): 0} {
			if got := found(clerk, "txt", text); strings.Count(got, "F-") != want {
				t.Errorf("%.20q finds %s", text, got)
			}
		}
		if got := found(s.Admin, "txt", "100%"); !strings.HasPrefix(got, "F-1/") {
			t.Errorf("who sees the field finds %s", got)
		}
		if got := found(clerk, "txt", "100%", "searchfield", "secret_note"); got != "" {
			t.Errorf("a field of a level that is not seen finds %s", got)
		}
		if got := found(clerk, "txt", "", "filters", `{"city": "Rome"}`, "page_length", "1"); !strings.HasPrefix(got, "F-2/") {
			t.Errorf("filtered: %s", got)
		}
		if got := found(clerk, "txt", "", "page_length", 2); strings.Count(got, "F-") != 2 {
			t.Errorf("two: %s", got)
		}
		s.Admin.Post("/api/resource/User Permission", obj{"user": "clerk@example.com", "allow": "Firm", "for_value": "F-3"}).OK(t)
		if got := found(clerk, "txt", "", "ignore_user_permissions", "1"); got != "F-3/Cay/Paris" {
			t.Errorf("with a User Permission: %s", got)
		}
		const path = "/api/method/framework.desk.search.search_link"
		s.User(t, "nobody@example.com").Get(path, "doctype", "Firm").Fails(t, 403, "PermissionError")
		s.Guest.Get(path, "doctype", "Firm").Fails(t, 403, "PermissionError")
		clerk.Get(path, "doctype", "Firm", "query", "erpnext.queries.x").Fails(t, 417, "ValidationError")
		clerk.Get(path, "doctype", "No Such").Fails(t, 404, "DoesNotExistError")
	})
}

// TestReadOnlySite: while a site is read only everybody reads and logs in, and nobody
// writes, by whichever way.
func TestReadOnlySite(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		made := s.Admin.Post("/api/resource/ToDo", obj{"description": "x"}).Data(t)
		name := fmt.Sprint(made["name"])
		s.Configure(t, "read_only", "true")
		const kind = "InReadOnlyMode"
		s.Admin.Post("/api/resource/ToDo", obj{"description": "y"}).Fails(t, 503, kind)
		s.Admin.Put("/api/resource/ToDo/"+name, obj{"description": "y"}).Fails(t, 503, kind)
		s.Admin.Delete("/api/resource/ToDo/"+name).Fails(t, 503, kind)
		method := func(path string, args obj) *sitetest.Reply { return s.Admin.Post("/api/method/framework."+path, args) }
		method("client.insert", obj{"doc": obj{"doctype": "ToDo", "description": "y"}}).Fails(t, 503, kind)
		method("client.set_value", obj{"doctype": "ToDo", "name": name, "fieldname": "status", "value": "Closed"}).Fails(t, 503, kind)
		method("client.rename_doc", obj{"doctype": "ToDo", "old_name": name, "new_name": "z"}).Fails(t, 503, kind)
		method("client.batch", obj{"operations": []obj{{"op": "delete", "doctype": "ToDo", "name": name}}}).Fails(t, 503, kind)
		method("core.doctype.user.user.generate_keys", obj{"user": "Administrator"}).Fails(t, 503, kind)
		s.Admin.Do("POST", "/api/method/upload_file", "multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhi\r\n--x--\r\n")).Fails(t, 503, kind)
		s.Admin.Post("/api/resource/DocType", obj{"name": "New", "module": "M", "custom": 1}).Fails(t, 503, kind)
		if rows := s.Admin.Get("/api/resource/ToDo").List(t); len(rows) != 1 {
			t.Errorf("there are %v", rows)
		}
		if got := s.Admin.Get("/api/resource/ToDo/" + name).Data(t); got["description"] != "x" {
			t.Errorf("it is %v", got)
		}
		s.Configure(t, "read_only", "null")
		s.Admin.Put("/api/resource/ToDo/"+name, obj{"description": "y"}).OK(t)
	})
}
