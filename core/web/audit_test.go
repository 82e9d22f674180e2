package web_test

import (
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestRightsAreAudited: whoever changes what somebody may do is named in the
// Activity Log, with what was changed, where from and through which browser.
func TestRightsAreAudited(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		// subjects are the entries since the last look, oldest first.
		seen, begun := map[string]bool{}, false
		subjects := func() (all []string) {
			for _, row := range s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"*"}, "order_by", "creation asc", "limit", "0").List(t) {
				m := row.(map[string]any)
				if name := m["name"].(string); !seen[name] {
					seen[name] = true
					all = append(all, m["subject"].(string))
					if !begun {
						continue
					}
					if m["owner"] != "Administrator" || m["ip_address"] != "127.0.0.1" || m["status"] != "Success" {
						t.Errorf("entry %v", m)
					}
				}
			}
			return all
		}
		subjects()
		begun = true
		user := "/api/resource/User/new@example.com"
		var share, restriction string
		steps := []struct {
			do   func()
			want string // empty: nothing
		}{
			{func() {
				s.Admin.Post("/api/resource/User", map[string]any{"email": "new@example.com", "first_name": "N"}).OK(t)
			}, "User new@example.com was made"},
			{func() { s.Admin.Put(user, map[string]any{"bio": "x"}).OK(t) }, ""},
			{func() { s.Admin.Put(user, map[string]any{"enabled": 0}).OK(t) }, "User new@example.com was disabled"},
			{func() { s.Admin.Put(user, map[string]any{"enabled": 1}).OK(t) }, "User new@example.com was enabled"},
			{func() {
				s.Admin.Post("/api/resource/DocType", map[string]any{"name": "Deal", "module": "Core", "custom": 1,
					"fields":      []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
					"permissions": []any{map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "share": 1}}}).OK(t)
			}, "Permissions of Deal: System Manager read write create share"},
			{func() {
				s.Admin.Put("/api/resource/DocType/Deal", map[string]any{
					"permissions": []any{map[string]any{"role": "All", "read": 1, "if_owner": 1}, map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "share": 1}}}).OK(t)
			}, "Permissions of Deal: All if_owner read; System Manager read write create share"},
			{func() { s.Admin.Put("/api/resource/DocType/Deal", map[string]any{"title_field": "title"}).OK(t) }, ""},
			{func() {
				deal := s.Admin.Post("/api/resource/Deal", map[string]any{"title": "a"}).Data(t)["name"].(string)
				share = s.Admin.Post("/api/resource/DocShare", map[string]any{"user": "new@example.com", "share_doctype": "Deal", "share_name": deal, "read": 1, "write": 1}).Data(t)["name"].(string)
			}, "Deal "},
			{func() { s.Admin.Delete("/api/resource/DocShare/" + share) }, "is no longer shared with new@example.com"},
			{func() {
				restriction = s.Admin.Post("/api/resource/User%20Permission", map[string]any{"user": "new@example.com", "allow": "Role", "for_value": "All"}).Data(t)["name"].(string)
			}, "User Permission of new@example.com for Role All was made"},
			{func() { s.Admin.Delete("/api/resource/User%20Permission/" + restriction) }, "User Permission of new@example.com for Role All was deleted"},
			{func() { s.Admin.Post("/api/resource/Role", map[string]any{"role_name": "Seller"}).OK(t) }, "Role Seller was made"},
			{func() {
				s.Admin.Put("/api/resource/User/new@example.com", map[string]any{"roles": []any{map[string]any{"role": "Seller"}}}).OK(t)
			}, "Roles of new@example.com: Seller"},
		}
		for i, step := range steps {
			step.do()
			got := subjects()
			if step.want == "" && len(got) == 0 || len(got) == 1 && step.want != "" && strings.Contains(got[0], step.want) {
				continue
			}
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		s.Admin.Put(user, map[string]any{"email": "not an address"})
		if got := subjects(); len(got) != 0 {
			t.Errorf("what was refused is recorded: %q", got)
		}
	})
}
