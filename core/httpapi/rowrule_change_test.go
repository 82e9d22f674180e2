package httpapi_test

import (
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/sites/sitetest"
)

// breakCondition writes a condition past the checks, as a restored or mended
// database may hold it.
func breakCondition(t *testing.T, s *sitetest.Server, parent, role, condition string) {
	t.Helper()
	docs := s.Tenant.Documents
	rules := docs.Schema().DocType(doctype.DocPermName)
	is := func(field, value string) doctype.Where {
		return doctype.Compare{Operand: doctype.Operand{Field: rules.Field(field)}, Op: query.Eq, Value: value}
	}
	err := s.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if _, err := tx.Replace(t.Context(), rules, rules.Field("condition"), doctype.AllOf{is("parent", parent), is("role", role)}, condition); err != nil {
			return err
		}
		_, err := tx.BumpSchema(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := docs.Refresh(t.Context()); err != nil {
		t.Fatal("the DocTypes do not load:", err)
	}
}

// A condition that cannot be read gives nothing and breaks nothing else.
func TestBrokenRowRules(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann, _ := helpdesk(t, s)
		for _, broken := range []string{`nonsense`, `[["gone","=",1]]`, `[["customer.gone","=",1]]`} {
			breakCondition(t, s, "Reply", "All", broken)
			ann.Get("/api/resource/Reply/to ann").Fails(t, 403, "PermissionError")
			if r := ann.Get("/api/resource/Reply"); r.Status != 403 && len(r.List(t)) > 0 {
				t.Errorf("%s shows %s", broken, r.Text)
			}
			s.Admin.Get("/api/resource/Reply/to ann").OK(t)
			ann.Get("/api/resource/Ticket/ann's").OK(t)
			x := ann.Get(client+"explain_permission", "doctype", "Reply", "name", "to ann").OK(t)
			if !strings.Contains(x.Text, "cannot be read") {
				t.Errorf("%s is explained by %s", broken, x.Text)
			}
			// Others can be saved, and so can the one that is broken, once it is mended.
			s.Admin.Put("/api/resource/DocType/Customer", obj{"description": broken}).OK(t)
			s.Admin.Put("/api/resource/DocType/Reply", obj{"description": "still broken"}).Fails(t, 417, "ValidationError")
			s.Admin.Put("/api/resource/DocType/Reply", obj{"permissions": []obj{{"role": "System Manager", "read": 1},
				{"role": "All", "read": 1, "condition": `{"ticket.customer.login": "$user", "internal": 0}`}}}).OK(t)
			ann.Get("/api/resource/Reply/to ann").OK(t)
		}
		// Nor does a DocType go into which a condition looks.
		for _, name := range []string{"to ann", "to ben", "about ann", "about ben"} {
			s.Admin.Delete("/api/resource/Reply/" + name)
		}
		s.Admin.Put("/api/resource/DocType/Customer", obj{"permissions": []obj{{"role": "System Manager", "read": 1},
			{"role": "All", "read": 1, "condition": `[["login.full_name","=","x"]]`}}}).OK(t)
		s.Admin.Delete("/api/resource/DocType/Ticket").Fails(t, 417, "LinkExistsError")
	})
}

// A change must not lead out of what the caller may write, whichever it is.
func TestChangesStayWithinRowRules(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Slip", []obj{
			{"fieldname": "n", "fieldtype": "Int"}, {"fieldname": "next", "fieldtype": "Link", "options": "Slip"},
		}, obj{"autoname": "Prompt", "is_submittable": 1, "permissions": []obj{
			{"role": "System Manager", "read": 1, "write": 1, "create": 1, "submit": 1},
			{"role": "All", "read": 1, "create": 1},
			{"role": "All", "write": 1, "condition": `[["docstatus","=",0],["next","is","not set"]]`},
			{"role": "All", "write": 1, "condition": `[["next.next.n",">",0]]`},
		}})
		ann := s.User(t, "ann@example.com")
		s.Admin.Post("/api/resource/Slip", obj{"name": "a", "n": 1}).OK(t)
		// Discarding it would take it out of reach.
		ann.Post("/api/resource/Slip/a", obj{"run_method": "discard"}).Fails(t, 403, "PermissionError")
		if got := s.Admin.Get("/api/resource/Slip/a").Data(t)["docstatus"]; got != 0.0 {
			t.Errorf("discarded: docstatus %v", got)
		}
		// Through other documents it is seen as it will be, not as it was.
		s.Admin.Post("/api/resource/Slip", obj{"name": "b", "next": "a"}).OK(t)
		s.Admin.Put("/api/resource/Slip/a", obj{"next": "b"}).OK(t)
		ann.Put("/api/resource/Slip/a", obj{"n": 0}).Fails(t, 403, "PermissionError")
		ann.Put("/api/resource/Slip/a", obj{"n": 2}).OK(t)
		if got := s.Admin.Get("/api/resource/Slip/a").Data(t)["n"]; got != 2.0 {
			t.Errorf("n is %v", got)
		}
	})
}
