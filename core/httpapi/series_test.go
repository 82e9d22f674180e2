package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

func TestNumbersAreGivenBack(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Bill", []obj{{"fieldname": "shop", "fieldtype": "Data"}}, obj{"autoname": "format:B-{YYYY}-{shop}-{###}/x"})
		newDocType(t, s.Admin, "Slip", []obj{{"fieldname": "naming_series", "fieldtype": "Select", "options": "S-.YY.-.##\nT-"}}, obj{"autoname": "naming_series:"})
		newDocType(t, s.Admin, "Ticket", nil, obj{"autoname": "autoincrement"})
		create := func(doctype string, body obj) string {
			return fmt.Sprint(s.Admin.Post("/api/resource/"+doctype, body).Data(t)["name"])
		}
		remove := func(doctype, name string) {
			t.Helper()
			if r := s.Admin.Post(client+"delete", obj{"doctype": doctype, "name": name}); r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Text)
			}
		}
		year := time.Now().UTC().Year()
		bill := func(shop string, n int) string { return fmt.Sprintf("B-%d-%s-%03d/x", year, shop, n) }
		expect := func(got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		expect(create("Bill", obj{"shop": "a"}), bill("a", 1))
		expect(create("Bill", obj{"shop": "a"}), bill("a", 2))
		expect(create("Bill", obj{"shop": "b"}), bill("b", 1))
		remove("Bill", bill("a", 1)) // not the last
		expect(create("Bill", obj{"shop": "a"}), bill("a", 3))
		remove("Bill", bill("a", 3))
		expect(create("Bill", obj{"shop": "a"}), bill("a", 3))
		// A document whose fields have changed since is of no series any more.
		s.Admin.Post(client+"set_value", obj{"doctype": "Bill", "name": bill("b", 1), "fieldname": "shop", "value": "c"}).OK(t)
		remove("Bill", bill("b", 1))
		expect(create("Bill", obj{"shop": "b"}), bill("b", 2))

		slip := func(n int) string { return fmt.Sprintf("S-%02d-%02d", year%100, n) }
		expect(create("Slip", obj{}), slip(1))
		remove("Slip", slip(1))
		expect(create("Slip", obj{}), slip(1))
		expect(create("Slip", obj{"naming_series": "T-"}), "T-00001")

		expect(create("Ticket", obj{}), "1")
		remove("Ticket", "1")
		expect(create("Ticket", obj{}), "2")
	})
}

func TestStatementsOfGetList(t *testing.T) {
	s := newSite(t)
	const path = "/api/method/framework.client.get_list?doctype=ToDo&debug=True"
	a := s.do(request{as: "desk", path: path}).must(200)
	if exc, _ := a.body["exc"].(string); len(exc) < 20 || exc[0] != '[' {
		t.Errorf("exc %v", a.body["exc"])
	}
	if a := s.do(request{as: "web", path: path}).must(200); a.body["exc"] != nil {
		t.Errorf("shown to one who sees no traces: %s", a.text)
	}
	const explain = "/api/method/framework.client.explain_permission?doctype=DocType&user=desk@example.com"
	s.create("admin", "User", `{"email":"desk@example.com","first_name":"Desk"}`)
	a = s.do(request{as: "admin", path: explain}).must(200)
	if m := a.body["message"].(map[string]any); m["user"] != "desk@example.com" || m["allowed"] != false {
		t.Errorf("explained %v", m)
	}
	s.do(request{as: "desk", path: explain[:len(explain)-len("desk@example.com")] + "Administrator"}).must(403)
}
