package httpapi_test

import (
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/sites/sitetest"
)

// A password in a document is sealed in the database, masked over REST, and
// readable for a System Manager who asks for it.
func TestPasswordFields(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Mailbox", []obj{{"fieldname": "password", "fieldtype": "Password"}, {"fieldname": "host", "fieldtype": "Data"}},
			obj{"permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1}}})
		d := s.Admin.Post("/api/resource/Mailbox", obj{"password": "hunter2", "host": "a"}).Data(t)
		if got := d["password"]; got != "**********" {
			t.Errorf("REST shows %v", got)
		}
		path := "/api/resource/Mailbox/" + d["name"].(string)
		stored := func() string {
			dt := s.Tenant.Documents.Schema().DocType("Mailbox")
			f := dt.Field("password")
			var text string
			err := s.Tenant.Store.Read(t.Context(), func(tx document.Tx) error {
				return tx.Rows(t.Context(), &doctype.Select{
					DocType: dt,
					Columns: []doctype.Column{{Operand: doctype.Operand{Field: f}, Key: "password"}},
					Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Eq, Value: d["name"]},
				}, func(v []any) error {
					text, _ = v[0].(string)
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		before := stored()
		if before == "" || strings.Contains(before, "hunter2") {
			t.Errorf("the database holds %q", before)
		}
		// What a read showed comes back with a save: the password stays.
		s.Admin.Put(path, obj{"password": "**********", "host": "b"}).OK(t)
		if stored() != before {
			t.Error("the mask replaced the password")
		}
		ask := func(c *sitetest.Client, field string) *sitetest.Reply {
			return c.On(t).Get("/api/method/framework.client.get_password", "doctype", "Mailbox", "name", d["name"], "fieldname", field)
		}
		if got := ask(s.Admin, "password").Message(t); got != "hunter2" {
			t.Errorf("got %v", got)
		}
		ask(s.User(t, "reader@example.com"), "password").Fails(t, 403, "PermissionError")
		ask(s.Admin, "host").Fails(t, 417, "ValidationError")
		s.Admin.Put(path, obj{"password": ""}).OK(t)
		ask(s.Admin, "password").Fails(t, 404, "DoesNotExistError")
	})
}
