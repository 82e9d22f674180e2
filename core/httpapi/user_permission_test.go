package httpapi_test

import (
	"reflect"
	"testing"

	"armature/core/sites/sitetest"
)

func TestUserPermissionsOfTrees(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		all := []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1}, {"role": "All", "read": 1, "write": 1, "create": 1}}
		newDocType(t, s.Admin, "Area", []obj{{"fieldname": "title", "fieldtype": "Data"}}, obj{"is_tree": 1, "autoname": "field:title", "permissions": all})
		newDocType(t, s.Admin, "Visit", []obj{{"fieldname": "area", "fieldtype": "Link", "options": "Area"}}, obj{"autoname": "Prompt", "permissions": all})
		for _, pair := range [][2]string{{"World", ""}, {"North", "World"}, {"South", "World"}, {"Oslo", "North"}} {
			s.Admin.Post("/api/resource/Area", obj{"title": pair[0], "parent_area": pair[1]}).OK(t)
			s.Admin.Post("/api/resource/Visit", obj{"name": "to " + pair[0], "area": pair[0]}).OK(t)
		}
		permit := func(user, value string, more obj) string {
			body := obj{"user": user, "allow": "Area", "for_value": value}
			for k, v := range more {
				body[k] = v
			}
			return s.Admin.Post("/api/resource/User Permission", body).Data(t)["name"].(string)
		}
		names := func(c *sitetest.Client, doctype string) []any {
			return c.Get("/api/resource/"+doctype, "order_by", "name asc").Column(t, "name")
		}
		expect := func(what string, got []any, want ...any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		ann, ben := s.User(t, "ann@example.com"), s.User(t, "ben@example.com")
		permit("ann@example.com", "North", nil)
		expect("ann's areas", names(ann, "Area"), "North", "Oslo")
		expect("ann's visits", names(ann, "Visit"), "to North", "to Oslo")
		ann.Get("/api/resource/Visit/to%20Oslo").OK(t)
		ann.Get("/api/resource/Visit/to%20South").Fails(t, 403, "PermissionError")
		ann.Post("/api/resource/Visit", obj{"name": "a", "area": "Oslo"}).OK(t)
		ann.Put("/api/resource/Visit/a", obj{"area": "South"}).Fails(t, 403, "PermissionError")

		permit("ben@example.com", "North", obj{"hide_descendants": 1})
		expect("ben's areas", names(ben, "Area"), "North")
		ben.Get("/api/resource/Visit/to%20Oslo").Fails(t, 403, "PermissionError")

		// The only permission fills the link of a new document; of several, the
		// one marked as default.
		if got := ben.Post("/api/resource/Visit", obj{"name": "b"}).Data(t)["area"]; got != "North" {
			t.Errorf("ben's default %v", got)
		}
		permit("ben@example.com", "South", obj{"is_default": 1})
		if got := ben.Post("/api/resource/Visit", obj{"name": "c"}).Data(t)["area"]; got != "South" {
			t.Errorf("ben's default %v", got)
		}
		if got := ben.Post("/api/resource/Visit", obj{"name": "d", "area": "North"}).Data(t)["area"]; got != "North" {
			t.Errorf("what is sent wins: %v", got)
		}
		permit("ann@example.com", "South", nil)
		if got := ann.Post("/api/resource/Visit", obj{"name": "e"}).Data(t)["area"]; got != nil {
			t.Errorf("ann has no default among several: %v", got)
		}
	})
}
