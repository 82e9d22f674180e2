package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestRunAsPlugin: a handler that asks for it runs as its plugin's own user, who has
// the roles that people give, whatever the token of whoever saves is good for.
func TestRunAsPlugin(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		s.Want("POST", "/api/resource/Role", args{"role_name": "Clerk"})
		s.Want("POST", "/api/resource/DocType", args{
			"name": "Entry", "custom": 1, "module": "Custom", "fields": []any{args{"fieldname": "about", "fieldtype": "Data"}},
			"permissions": []any{args{"role": "Clerk", "read": 1, "write": 1, "create": 1}},
		})
		s.Want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase"})
		s.Script(in, "acme.clerk", `
			export function hear({ doc: todo }) { doc.insert("Entry", { about: todo.description }); doc.list("Note"); }
		`, args{"events": args{"ToDo.after_insert": args{"export": "hear", "run_as": "plugin"}}, "grants": []string{"resource:Entry:create", "resource:Note:read"}}, nil)
		const clerk = "acme.clerk@plugin.invalid"
		if status, _ := s.Call("GET", "/api/resource/User/"+clerk, nil); status != http.StatusNotFound {
			t.Errorf("the user is there before anything is approved: %d", status)
		}
		if status, answer := s.Call("POST", "/api/resource/User", args{"email": clerk, "first_name": "X"}); status != http.StatusForbidden {
			t.Errorf("somebody makes the user of a plugin: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.approve", args{"plugin": "acme.clerk"})
		user := s.Want("GET", "/api/resource/User/"+clerk, nil).(map[string]any)
		if roles, _ := user["roles"].([]any); user["user_type"] != "Plugin" || len(roles) != 0 {
			t.Errorf("%v", user)
		}

		token := s.Bearer(t, "resource:ToDo:create")
		save := func() (int, map[string]any) {
			return s.CallAs(token, "POST", "/api/resource/ToDo", args{"description": "x"})
		}
		if status, answer := save(); status != http.StatusForbidden {
			t.Errorf("without a role: %d %v", status, answer)
		}
		s.Want("PUT", "/api/resource/User/"+clerk, args{"roles": []any{args{"role": "Clerk"}, args{"role": "System Manager"}}, "first_name": "The clerk"})
		status, answer := save()
		if status != http.StatusOK {
			t.Fatalf("with a role: %d %v", status, answer)
		}
		if todo := s.Want("GET", "/api/resource/ToDo/"+answer["data"].(map[string]any)["name"].(string), nil).(map[string]any); todo["owner"] != "ada@example.com" || todo["modified_by"] != "ada@example.com" {
			t.Errorf("what Ada has saved is not hers: %v", todo)
		}
		entries := s.Want("GET", `/api/resource/Entry?fields=["owner","modified_by","about"]`, nil).([]any)
		if len(entries) != 1 || entries[0].(map[string]any)["owner"] != clerk || entries[0].(map[string]any)["modified_by"] != clerk {
			t.Errorf("entries %v", entries)
		}
		if now := s.Want("GET", "/api/resource/User/"+clerk, nil).(map[string]any); now["user_type"] != "Plugin" {
			t.Errorf("roles have made it %v", now["user_type"])
		}
		notAtTheDoor(s, in, clerk)

		// What it does is narrowed by the plugin's grants, too.
		s.Script(in, "acme.keen", `export function hear() { doc.insert("Note", { title: "n" }); }`,
			args{"events": args{"Note.after_insert": args{"export": "hear", "run_as": "plugin"}}}, []string{"all"})
		s.Want("PUT", "/api/resource/User/acme.keen@plugin.invalid", args{"roles": []any{args{"role": "System Manager"}}})
		if status, answer := s.Call("POST", "/api/resource/Note", args{"title": "x"}); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(answer), "acme.keen is not granted resource:Note:create") {
			t.Errorf("beyond the grants: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.uninstall", args{"plugin": "acme.keen"})
		gone := s.Want("GET", "/api/resource/User/acme.keen@plugin.invalid", nil).(map[string]any)
		if roles, _ := gone["roles"].([]any); len(roles) != 0 || gone["enabled"] != float64(0) {
			t.Errorf("the next plugin of the name inherits %v", gone)
		}

		s.Want("PUT", "/api/resource/User/"+clerk, args{"enabled": 0})
		if status, answer := save(); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(answer), clerk) {
			t.Errorf("disabled: %d %v", status, answer)
		}
		s.Want("PUT", "/api/resource/User/"+clerk, args{"enabled": 1})
		s.Want("POST", "/api/method/framework.plugins.revoke", args{"plugin": "acme.clerk", "grants": []string{"run_as:plugin"}})
		if status, answer := save(); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(answer), "run_as:plugin") {
			t.Errorf("revoked: %d %v", status, answer)
		}
		log := s.Want("GET", `/api/resource/Activity Log?fields=["subject"]&filters=[["user","=","`+clerk+`"]]&limit=50`, nil)
		if text, _ := json.Marshal(log); !strings.Contains(string(text), "was made for the plugin acme.clerk") {
			t.Errorf("activity log %s", text)
		}
	})
}

// notAtTheDoor: nobody comes in as the user of a plugin, by any credentials.
func notAtTheDoor(s *armaturetest.Server, in *armaturetest.Installation, user string) {
	t := s.T
	t.Helper()
	if status, answer := s.Call("PUT", "/api/resource/User/"+user, args{"new_password": "a long enough pass phrase"}); status != http.StatusExpectationFailed {
		t.Errorf("a password in the document: %d %v", status, answer)
	}
	for name, try := range map[string]struct {
		stdin string
		args  []string
	}{
		"a password": {"a long enough pass phrase\n", []string{"user", "password", user}},
		"keys":       {"", []string{"user", "keys", user}},
		"a link":     {"", []string{"user", "reset", user, "--url", "https://example.com"}},
	} {
		if out, stderr, err := in.Try(try.stdin, try.args...); err == nil || !strings.Contains(stderr, "nobody logs in") {
			t.Errorf("%s by the command line: %v %s %s", name, err, out, stderr)
		}
	}
	if status, answer := s.Call("POST", "/api/method/framework.core.doctype.user.user.generate_keys", args{"user": user}); status != http.StatusExpectationFailed {
		t.Errorf("keys: %d %v", status, answer)
	}
	for _, password := range []string{"", "a long enough pass phrase"} {
		if status, answer := s.CallAs("", "POST", "/api/method/login", args{"usr": user, "pwd": password}); status != http.StatusUnauthorized {
			t.Errorf("a login: %d %v", status, answer)
		}
	}
	for _, doc := range []args{
		{"doctype": "OAuth Bearer Token", "access_token": "x", "user": user, "status": "Active", "scopes": "all"},
		{"doctype": "Session", "user": user},
	} {
		path := "/api/resource/" + strings.ReplaceAll(doc["doctype"].(string), " ", "%20")
		if status, answer := s.Call("POST", path, doc); status == http.StatusOK {
			t.Errorf("a %s for it: %v", doc["doctype"], answer)
		}
	}
	if status, answer := s.Call("POST", "/api/method/framework.client.rename_doc", args{"doctype": "User", "old_name": user, "new_name": "eve@example.com"}); status == http.StatusOK {
		t.Errorf("renamed: %v", answer)
	}
	if status, answer := s.Call("POST", "/api/method/framework.client.rename_doc", args{"doctype": "User", "old_name": "ada@example.com", "new_name": "other@plugin.invalid"}); status == http.StatusOK {
		t.Errorf("a person becomes the user of a plugin: %v", answer)
	}
}
