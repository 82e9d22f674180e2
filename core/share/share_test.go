package share_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

const (
	add  = "/api/method/framework.share.add"
	drop = "/api/method/framework.share.remove"
	one  = "/api/method/framework.share.set_permission"
	who  = "/api/method/framework.share.get_users"
)

// with is the arguments for the ToDo of the tests.
func with(name, user string, more ...any) map[string]any {
	args := map[string]any{"doctype": "ToDo", "name": name, "user": user}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return args
}

func TestShare(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Admin.Post("/api/resource/DocType", map[string]any{
			"name": "Plan", "custom": 1, "fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []any{
				map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "share": 1},
				map[string]any{"role": "All", "if_owner": 1, "read": 1, "write": 1, "create": 1, "share": 1},
			},
		}).OK(t)
		ann, bob, eve := s.User(t, "ann@example.com"), s.User(t, "bob@example.com"), s.User(t, "eve@example.com")
		name := ann.Post("/api/resource/Plan", map[string]any{"title": "x"}).OK(t).Data(t)["name"].(string)
		at := "/api/resource/Plan/" + name
		plan := func(user string, more ...any) map[string]any {
			return with(name, user, append([]any{"doctype", "Plan"}, more...)...)
		}
		title := map[string]any{"title": "y"}

		// Who has no right to share gives none, and learns nothing.
		for _, path := range []string{add, one, drop} {
			eve.Post(path, plan("bob@example.com", "permission_to", "read")).Fails(t, 403, "PermissionError")
			s.Guest.Post(path, plan("bob@example.com", "permission_to", "read")).Fails(t, 403, "PermissionError")
		}
		eve.Get(who, "doctype", "Plan", "name", name).Fails(t, 403, "PermissionError")

		// Read alone, which is what is given when nothing is said.
		given := ann.Post(add, plan("bob@example.com")).OK(t).Message(t).(map[string]any)
		if given["user"] != "bob@example.com" || given["read"] != 1.0 || given["write"] != 0.0 || given["owner"] != "ann@example.com" {
			t.Errorf("answered with %v", given)
		}
		bob.Get(at).OK(t)
		if rows := bob.Get("/api/resource/Plan").OK(t).List(t); len(rows) != 1 {
			t.Errorf("bob's list: %v", rows)
		}
		bob.Put(at, title).Fails(t, 403, "PermissionError")
		bob.Post(add, plan("eve@example.com")).Fails(t, 403, "PermissionError")

		// Share without write passes on reading, not writing, nor more for oneself.
		ann.Post(one, plan("bob@example.com", "permission_to", "share")).OK(t)
		bob.Post(add, plan("eve@example.com", "write", 1)).Fails(t, 403, "PermissionError")
		bob.Post(add, plan("bob@example.com", "write", 1, "share", 1)).Fails(t, 403, "PermissionError")
		bob.Post(one, plan("bob@example.com", "permission_to", "write")).Fails(t, 403, "PermissionError")
		bob.Post(add, plan("eve@example.com", "share", "1")).OK(t)
		eve.Get(at).OK(t)

		// What one could not give one cannot take away.
		ann.Post(add, plan("eve@example.com", "write", 1)).OK(t)
		eve.Put(at, title).OK(t)
		bob.Post(add, plan("eve@example.com")).Fails(t, 403, "PermissionError")
		bob.Post(drop, plan("eve@example.com")).Fails(t, 403, "PermissionError")
		users := ann.Get(who, "doctype", "Plan", "name", name).OK(t).Message(t).([]any)
		if len(users) != 2 {
			t.Errorf("shared with %v", users)
		}

		// Taken back, it is gone with the next request; one may go oneself.
		eve.Post(drop, plan("eve@example.com")).OK(t)
		eve.Get(at).Fails(t, 403, "PermissionError")
		ann.Post(drop, plan("bob@example.com")).OK(t)
		bob.Get(at).Fails(t, 403, "PermissionError")
		bob.Post(add, plan("eve@example.com")).Fails(t, 403, "PermissionError")

		// Everyone is who is logged in.
		ann.Post(add, plan("", "everyone", 1)).OK(t)
		eve.Get(at).OK(t)
		s.Guest.Get(at).Fails(t, 403, "PermissionError")
		ann.Post(one, plan("", "everyone", 1, "permission_to", "read", "value", 0)).OK(t)
		eve.Get(at).Fails(t, 403, "PermissionError")

		for _, bad := range []map[string]any{plan("Guest"), plan(""), plan("ann@example.com", "doctype", "Has Role")} {
			ann.Post(add, bad).Fails(t, 417, "ValidationError")
		}
		ann.Post(add, plan("nobody@example.com")).Fails(t, 417, "LinkValidationError")
		ann.Post(add, plan("bob@example.com", "write", "yes please")).Fails(t, 417, "DataError")
		ann.Get(add, "doctype", "Plan", "name", name, "user", "bob@example.com").Fails(t, 403, "PermissionError")
		s.Admin.Post(add, plan("bob@example.com", "name", "nothing")).Fails(t, 404, "DoesNotExistError")
	})
}

// TestForged: a DocShare by REST obeys the rules of the methods.
func TestForged(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const path = "/api/resource/DocShare"
		ann, max := s.User(t, "ann@example.com"), s.User(t, "max@example.com", "System Manager")
		s.Admin.Post("/api/resource/DocType", map[string]any{
			"name": "Diary", "custom": 1, "fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []any{map[string]any{"role": "All", "if_owner": 1, "read": 1, "write": 1, "create": 1, "share": 1}},
		}).OK(t)
		name := ann.Post("/api/resource/Diary", map[string]any{"title": "x"}).OK(t).Data(t)["name"].(string)
		forged := map[string]any{"share_doctype": "Diary", "share_name": name, "user": "max@example.com", "read": 1, "write": 1}
		max.Post(path, forged).Fails(t, 403, "PermissionError")
		ann.Post(path, forged).Fails(t, 403, "PermissionError")
		max.Get("/api/resource/Diary/"+name).Fails(t, 403, "PermissionError")

		s.Admin.Post(path, map[string]any{"share_doctype": "Diary", "share_name": name, "user": "max@example.com", "read": 1, "share": 1}).OK(t)
		mine := path + "/" + s.Admin.Get(path).List(t)[0].(map[string]any)["name"].(string)
		max.Get("/api/resource/Diary/" + name).OK(t)
		max.Put(mine, map[string]any{"write": 1}).Fails(t, 403, "PermissionError")
		max.Put(mine, map[string]any{"user": "ann@example.com"}).Fails(t, 417, "CannotChangeConstantError")
		max.Put(mine, map[string]any{"share_name": "other"}).Fails(t, 417, "CannotChangeConstantError")
		max.Post("/api/method/framework.client.set_value", map[string]any{"doctype": "DocShare", "name": mine[len(path)+1:], "fieldname": "write", "value": 1}).Fails(t, 403, "PermissionError")
		s.Admin.Post(path, forged).Fails(t, 409, "DuplicateEntryError")
		s.Admin.Put(mine, map[string]any{"read": 0, "share": 0}).Fails(t, 417, "ValidationError")

		second := ann.Post("/api/resource/Diary", map[string]any{"title": "y"}).OK(t).Data(t)["name"].(string)
		s.Admin.Post(path, map[string]any{"share_doctype": "Diary", "share_name": second, "user": "ann@example.com", "read": 1}).OK(t)
		theirs := path + "/" + s.Admin.Get(path, "filters", map[string]any{"share_name": second}).List(t)[0].(map[string]any)["name"].(string)
		max.Delete(theirs).Fails(t, 403, "PermissionError")
		if r := max.Delete(mine); r.Status != 202 {
			t.Errorf("ending one's own share: %d %s", r.Status, r.Text)
		}
		max.Get("/api/resource/Diary/"+name).Fails(t, 403, "PermissionError")
	})
}
