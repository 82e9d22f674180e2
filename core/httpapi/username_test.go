package httpapi_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

// TestEmailFields: what an Email field takes.
func TestEmailFields(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Letter", []obj{{"fieldname": "to", "fieldtype": "Data", "options": "Email"}}, nil)
		for _, to := range []string{"a@b.co", "A <a@b.co>", `"Doe, J." <a@b.co>, c@d.co`, "a@b.co, C D <c@d.co>", ""} {
			if d := s.Admin.Post("/api/resource/Letter", obj{"to": to}).Data(t); d["to"] != to {
				t.Errorf("%s became %v", to, d["to"])
			}
		}
		for _, to := range []string{"a", "a@", "A <a>", "a@b.co c@d.co", "A <a@b.co", "some: a@b.co, c@d.co;", "a@b.co\r\nBcc: c@d.co",
			`"<script>x</script>" <a@b.co>`, "A <a/onclick=x//@b.co>", `<"a onclick=x"@b.co>`} {
			s.Admin.Post("/api/resource/Letter", obj{"to": to}).Fails(t, 417, "InvalidEmailAddressError")
		}
	})
}

// TestUserKeepsItsEmail: the address of a user is the name. Another one is refused
// at every door, and the same in another spelling is the same.
func TestUserKeepsItsEmail(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann := s.User(t, "ann@example.com")
		path := "/api/resource/User/ann@example.com"
		for _, email := range []any{"new@example.com", "", nil, "Ann <ann@example.com>", "a\u200bnn@example.com"} {
			for _, c := range []*sitetest.Client{s.Admin, ann} {
				c.Put(path, obj{"email": email}).Fails(t, 417, "CannotChangeConstantError")
				c.Post(client+"set_value", obj{"doctype": "User", "name": "ann@example.com", "fieldname": "email", "value": email}).Fails(t, 417, "CannotChangeConstantError")
				c.Post(client+"save", obj{"doc": obj{"doctype": "User", "name": "ann@example.com", "email": email}}).Fails(t, 417, "CannotChangeConstantError")
			}
		}
		s.Admin.Post(client+"bulk_update", obj{"docs": []obj{{"doctype": "User", "docname": "ann@example.com", "email": "new@example.com"}}})
		s.Admin.Post(client+"rename_doc", obj{"doctype": "User", "old_name": "ann@example.com", "new_name": "new@example.com"}).Fails(t, 417, "ValidationError")
		s.Admin.Put(path, obj{"name": "new@example.com", "email": " ANN@example.com "}).OK(t)
		if d := ann.Get(path).Data(t); d["email"] != "ann@example.com" || d["name"] != "ann@example.com" {
			t.Errorf("the user is %v", d)
		}
		s.Admin.Get("/api/resource/User/new@example.com").Fails(t, 404, "DoesNotExistError")
		s.Admin.Put("/api/resource/User/Administrator", obj{"email": "new@example.com"}).Fails(t, 417, "CannotChangeConstantError")
	})
}

// TestUserNames: no two users are named alike to the eye, whichever name it is and
// however it came to be.
func TestUserNames(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		make := func(values obj) *sitetest.Reply {
			if values["first_name"] == nil {
				values["first_name"] = "F"
			}
			return s.Admin.Post("/api/resource/User", values)
		}
		for _, email := range []string{"j\u0430ne@example.com", "ja\u200bne@example.com", "jane\u202e@example.com", "A <a@b.co>", "a@b.co, c@d.co"} {
			make(obj{"email": email}).Fails(t, 417, "InvalidEmailAddressError")
			s.Admin.Post(client+"insert_many", obj{"docs": []obj{{"doctype": "User", "email": email, "first_name": "F"}}}).Fails(t, 417, "InvalidEmailAddressError")
		}
		for _, name := range []string{"j\u0430ne", "ja\u200bne", "\u0441\u043e\u0440\u0435"} {
			make(obj{"email": "one@example.com", "username": name}).Fails(t, 417, "InvalidNameError")
		}
		d := make(obj{"email": "Ｊane@Example.com", "username": "Ｊane", "new_password": "correct horse battery"}).Data(t)
		if d["name"] != "jane@example.com" || d["username"] != "jane" {
			t.Errorf("the user is %v", d)
		}
		make(obj{"email": "JANE@example.com"}).Fails(t, 409, "DuplicateEntryError")
		make(obj{"email": "two@example.com", "username": "ＪＡＮＥ"}).Fails(t, 417, "UniqueValidationError")
		s.Admin.Put("/api/resource/User/jane@example.com", obj{"username": "j\u0430ne"}).Fails(t, 417, "InvalidNameError")
		for _, usr := range []string{"jane", "ＪANE", "JANE", "Jane@EXAMPLE.com", " jane@example.com "} {
			if r := s.Guest.Post("/api/method/login", obj{"usr": usr, "pwd": "correct horse battery"}); r.Status != 200 {
				t.Errorf("login as %q: %d %s", usr, r.Status, r.Text)
			}
		}
		// A first name may be written as one likes; a name to log in by is not made of it.
		if d := make(obj{"email": "three@example.com", "first_name": "J\u0430ck"}).Data(t); d["username"] != nil {
			t.Errorf("the user name %q was made", d["username"])
		}
	})
}

// TestRoleWithoutDesk: a new role brings nobody to the desk unless it says so.
func TestRoleWithoutDesk(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		if d := s.Admin.Post("/api/resource/Role", obj{"role_name": "Visitor", "home_page": "/x"}).Data(t); d["desk_access"] != 0. || d["home_page"] != nil {
			t.Errorf("the role is %v", d)
		}
		s.User(t, "vi@example.com", "Visitor")
		if d := s.Admin.Get("/api/resource/User/vi@example.com").Data(t); d["user_type"] != "Website User" {
			t.Errorf("the user is %v", d)
		}
	})
}

// TestUnreadPropertiesAreTolerated: a client may go on sending the properties of
// the reference that mean nothing here; they are not kept.
func TestUnreadPropertiesAreTolerated(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Full", []obj{{"fieldname": "a", "fieldtype": "Data", "depends_on": "eval:doc.b", "no_copy": 1, "print_hide": 1,
			"link_filters": "[]", "in_list_view": 1}}, obj{"$schema": "doctype.schema.json", "naming_rule": "Random", "quick_entry": 1, "track_seen": 1, "allow_import": 1})
		got := s.Admin.Get("/api/resource/DocType/Full").Data(t)
		field := got["fields"].([]any)[0].(obj)
		if field["depends_on"] != nil || got["naming_rule"] != nil || field["in_list_view"] != 1. {
			t.Errorf("the DocType is %v", got)
		}
		s.Admin.Post("/api/resource/Note", obj{"title": "n", "notify_on_login": 1, "seen_by": []obj{{"user": "Guest"}}}).OK(t)
	})
}
