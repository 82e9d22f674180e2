package main_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// reach calls anything that a plugin can reach.
const reach = `
export function get({ doctype, name }) { return doc.get(doctype, name); }
export function list({ doctype, query }) { return doc.list(doctype, query ?? {}); }
export function insert({ doctype, values }) { return doc.insert(doctype, values); }
export function update({ doctype, name, values }) { return doc.update(doctype, name, values); }
export function remove({ doctype, name }) { return doc.delete(doctype, name); }
export function ask({ path, args }) { return call(path, args ?? {}); }
`

type args = map[string]any

// TestRightsOfPlugins: whatever a plugin tries beyond what it was given ends in a
// refusal that says what is missing, though the caller is the Administrator.
func TestRightsOfPlugins(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		everything := []string{"resource:*:write", "method:*"}
		s.Script(in, "evil.wide", reach, args{"grants": everything}, everything)
		s.Script(in, "evil.narrow", reach, args{"grants": []string{"resource:Note:read", "method:evil.wide.get"}}, []string{"resource:Note:read", "method:evil.wide.get"})
		s.Script(in, "evil.user", reach, args{"grants": []string{"resource:User:write", "method:framework.core.doctype.user.user.generate_keys"}},
			[]string{"resource:User:write", "method:framework.core.doctype.user.user.generate_keys"})
		s.Script(in, "evil.raised", reach, args{"grants": []string{"elevated", "resource:Note:write"}}, []string{"elevated", "resource:Note:write"})
		s.Script(in, "evil.friend", reach, args{"grants": []string{"method:*"}}, []string{"method:*"})
		s.Script(in, "evil.waiting", reach, args{"grants": []string{"resource:ToDo:read"}}, nil)
		s.Want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase"})
		note := s.Want("POST", "/api/resource/Note", args{"title": "N", "content": "x"}).(map[string]any)["name"]
		todo := s.Want("POST", "/api/resource/ToDo", args{"description": "x"}).(map[string]any)["name"]
		if got := s.Want("POST", "/api/method/evil.wide.get", args{"doctype": "ToDo", "name": todo}); got == nil {
			t.Fatal("what was given does not work")
		}
		s.Want("POST", "/api/method/evil.narrow.ask", args{"path": "evil.wide.get", "args": args{"doctype": "ToDo", "name": todo}})

		boss := args{"roles": []any{args{"role": "System Manager"}}}
		key := "framework.core.doctype.user.user.generate_keys"
		client := func(method string, a args) args { return args{"path": "framework.client." + method, "args": a} }
		attacks := []struct {
			name, path string
			args       args
		}{
			{"a wildcard reads users", "evil.wide.get", args{"doctype": "User", "name": "ada@example.com"}},
			{"a wildcard lists users", "evil.wide.list", args{"doctype": "User"}},
			{"a wildcard makes users", "evil.wide.insert", args{"doctype": "User", "values": args{"email": "e@example.com", "first_name": "E"}}},
			{"a wildcard gives roles", "evil.wide.update", args{"doctype": "User", "name": "ada@example.com", "values": boss}},
			{"a wildcard adds a row of roles", "evil.wide.insert", args{"doctype": "Has Role", "values": args{"parent": "ada@example.com", "parenttype": "User", "parentfield": "roles", "role": "System Manager"}}},
			{"a wildcard makes DocTypes", "evil.wide.insert", args{"doctype": "DocType", "values": args{"name": "Open", "custom": 1, "fields": []any{}}}},
			{"a wildcard changes OAuth clients", "evil.wide.list", args{"doctype": "OAuth Client"}},
			{"a wildcard reads tokens", "evil.wide.list", args{"doctype": "OAuth Bearer Token"}},
			{"a wildcard reads sessions", "evil.wide.list", args{"doctype": "Session"}},
			{"a wildcard reads versions", "evil.wide.list", args{"doctype": "Version"}},
			{"a wildcard reads what was deleted", "evil.wide.list", args{"doctype": "Deleted Document"}},
			{"a wildcard shares", "evil.wide.insert", args{"doctype": "DocShare", "values": args{"share_doctype": "Note", "share_name": note, "everyone": 1, "read": 1}}},
			{"a wildcard lifts restrictions", "evil.wide.list", args{"doctype": "User Permission"}},
			{"a wildcard approves itself", "evil.wide.update", args{"doctype": "Plugin", "name": "evil.wide", "values": args{"grants_approved": "elevated"}}},
			{"a wildcard makes keys", "evil.wide.ask", args{"path": key, "args": args{"user": "Administrator"}}},
			{"a wildcard manages plugins", "evil.wide.ask", args{"path": "framework.plugins.approve", "args": args{"plugin": "evil.wide"}}},
			{"a wildcard lists plugins", "evil.wide.ask", args{"path": "framework.plugins.list"}},
			{"a wildcard explains rights", "evil.wide.ask", client("explain_permission", args{"doctype": "User", "right": "read"})},
			{"passwords by a wildcard", "evil.wide.ask", client("get_password", args{"doctype": "User", "name": "ada@example.com", "fieldname": "api_secret"})},
			{"client.get", "evil.wide.ask", client("get", args{"doctype": "User", "name": "ada@example.com"})},
			{"client.get_list", "evil.wide.ask", client("get_list", args{"doctype": "User"})},
			{"client.insert", "evil.wide.ask", client("insert", args{"doc": args{"doctype": "Role", "role_name": "X"}})},
			{"client.set_value", "evil.wide.ask", client("set_value", args{"doctype": "User", "name": "ada@example.com", "fieldname": "enabled", "value": 0})},
			{"client.batch", "evil.wide.ask", client("batch", args{"operations": []any{args{"op": "update", "doctype": "User", "name": "ada@example.com", "doc": boss}}})},
			{"client.rename_doc", "evil.wide.ask", client("rename_doc", args{"doctype": "User", "old_name": "ada@example.com", "new_name": "b@example.com"})},
			{"client.delete", "evil.wide.ask", client("delete", args{"doctype": "User", "name": "ada@example.com"})},
			{"run_doc_method", "evil.wide.ask", args{"path": "run_doc_method", "args": args{"dt": "User", "dn": "ada@example.com", "method": "add_comment", "args": args{"text": "x"}}}},
			{"another DocType", "evil.narrow.get", args{"doctype": "ToDo", "name": todo}},
			{"a list of another DocType", "evil.narrow.list", args{"doctype": "ToDo"}},
			{"a change under read", "evil.narrow.update", args{"doctype": "Note", "name": note, "values": args{"content": "y"}}},
			{"a deletion under read", "evil.narrow.remove", args{"doctype": "Note", "name": note}},
			{"a comment under read", "evil.narrow.ask", args{"path": "run_doc_method", "args": args{"dt": "Note", "dn": note, "method": "add_comment", "args": args{"text": "x"}}}},
			{"a method that was not named", "evil.narrow.ask", args{"path": "evil.wide.insert", "args": args{"doctype": "ToDo", "values": args{"description": "x"}}}},
			{"through another plugin to the platform", "evil.narrow.ask", args{"path": "evil.wide.get", "args": args{"doctype": "User", "name": "ada@example.com"}}},
			{"roles by a named DocType", "evil.user.update", args{"doctype": "User", "name": "ada@example.com", "values": boss}},
			{"a new user with roles", "evil.user.insert", args{"doctype": "User", "values": args{"email": "f@example.com", "first_name": "F", "roles": boss["roles"]}}},
			{"a password of a named DocType", "evil.user.update", args{"doctype": "User", "name": "ada@example.com", "values": args{"new_password": "another long pass phrase"}}},
			{"a role as a row", "evil.user.insert", args{"doctype": "Has Role", "values": args{"parent": "ada@example.com", "parenttype": "User", "parentfield": "roles", "role": "System Manager"}}},
			{"keys by a named method", "evil.user.ask", args{"path": key, "args": args{"user": "Administrator"}}},
			{"elevated beyond its grants", "evil.raised.get", args{"doctype": "ToDo", "name": todo}},
			{"elevated to the platform", "evil.raised.list", args{"doctype": "User"}},
			{"a powerful plugin by a wildcard", "evil.friend.ask", args{"path": "evil.raised.get", "args": args{"doctype": "Note", "name": note}}},
			{"a plugin that reaches users by a wildcard", "evil.friend.ask", args{"path": "evil.user.list", "args": args{"doctype": "User"}}},
		}
		for _, a := range attacks {
			status, answer := s.Call("POST", "/api/method/"+a.path, a.args)
			if status != http.StatusForbidden || answer["exc_type"] != "PermissionError" {
				t.Errorf("%s: %d %v", a.name, status, answer)
			} else if text, _ := json.Marshal(answer); !strings.Contains(string(text), "grant") {
				t.Errorf("%s is refused, and not for want of a grant: %s", a.name, text)
			}
		}
		platformsMethods(s, "evil.wide.ask")
		if status, _ := s.Call("GET", "/api/method/evil.wide.list?doctype=User", nil); status != http.StatusForbidden {
			t.Errorf("by GET: %d", status)
		}
		if status, answer := s.Call("POST", "/api/method/evil.waiting.list", args{"doctype": "ToDo"}); status != http.StatusExpectationFailed {
			t.Errorf("a plugin that waits: %d %v", status, answer)
		}
		roles := s.Want("GET", "/api/resource/User/ada@example.com", nil).(map[string]any)["roles"]
		if text, _ := json.Marshal(roles); strings.Contains(string(text), "System Manager") {
			t.Errorf("roles %s", text)
		}

		// A token scoped to the methods approves nothing, and narrows within a plugin.
		token := s.Bearer(t, "method:framework.plugins.* method:evil.wide.* resource:ToDo:create")
		if status, _ := s.CallAs(token, "POST", "/api/method/framework.plugins.approve", args{"plugin": "evil.waiting"}); status != http.StatusForbidden {
			t.Errorf("a narrowed token approves: %d", status)
		}
		if status, answer := s.CallAs(token, "POST", "/api/method/evil.wide.get", args{"doctype": "ToDo", "name": todo}); status != http.StatusForbidden {
			t.Errorf("a token of create reads: %d %v", status, answer)
		}
		if status, _ := s.Call("POST", "/api/method/framework.plugins.revoke", args{"plugin": "evil.wide", "grants": []string{"http_fetch"}}); status != http.StatusExpectationFailed {
			t.Errorf("revoked what was never asked for: %d", status)
		}
	})
}

// ordinary are the platform's methods that a wildcard of a plugin's grants covers:
// what they reach are documents, by the rights on them, and what everybody may know.
var ordinary = []string{
	"ping", "framework.ping", "version", "framework.auth.get_logged_user", "framework.realtime.get_user_info", "run_doc_method",
	"framework.client.get", "framework.client.get_list", "framework.client.get_count", "framework.client.get_value",
	"framework.client.get_single_value", "framework.client.has_permission", "framework.client.get_doc_permissions",
	"framework.client.is_document_amended", "framework.client.validate_link", "framework.client.validate_link_and_fetch",
	"framework.client.get_time_zone", "framework.client.get_doctypes", "framework.client.get_doctype", "framework.client.insert", "framework.client.insert_many", "framework.client.save",
	"framework.client.set_value", "framework.client.bulk_update", "framework.client.submit", "framework.client.cancel",
	"framework.client.rename_doc", "framework.client.batch", "framework.client.delete", "framework.desk.search.search_link",
}

// platformsMethods: every other method that the server describes is closed to a
// plugin that may call all there are, through its method ask.
func platformsMethods(s *armaturetest.Server, ask string) {
	s.T.Helper()
	_, description := s.Call("GET", "/api/openapi.json", nil)
	tried := 0
	for path := range description["paths"].(map[string]any) {
		name, is := strings.CutPrefix(path, "/api/method/")
		if !is || slices.Contains(ordinary, name) || strings.HasPrefix(name, "evil.") {
			continue
		}
		tried++
		status, answer := s.Call("POST", "/api/method/"+ask, args{"path": name, "args": args{"user": "Administrator", "plugin": "evil.wide"}})
		if text, _ := json.Marshal(answer); status != http.StatusForbidden || !strings.Contains(string(text), "is not granted method:"+name) {
			s.T.Errorf("%s by a wildcard: %d %s", name, status, text)
		}
	}
	if tried < 10 {
		s.T.Errorf("only %d methods of the platform are described", tried)
	}
}

// TestHandlersSetWhatTheyDeclare: and nothing else, least of all of the platform.
func TestHandlersSetWhatTheyDeclare(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		event := func(sets ...string) args { return args{"export": "hear", "sets": sets} }
		save := func() (int, map[string]any) {
			return s.Call("POST", "/api/resource/ToDo", args{"description": "x"})
		}
		s.Script(in, "evil.keen", `export function hear({ doc }) { return { ...doc, priority: "High", color: "#ff0000" }; }`,
			args{"events": args{"ToDo.validate": event("priority")}}, nil)
		if status, answer := save(); status != http.StatusOK || answer["data"].(map[string]any)["priority"] == "High" {
			t.Fatalf("a handler that waits is heard: %d %v", status, answer)
		}
		approve := func(plugin string, grants ...string) {
			s.Want("POST", "/api/method/framework.plugins.approve", args{"plugin": plugin, "grants": grants})
		}
		approve("evil.keen", "event:ToDo.validate")
		if status, answer := save(); status != http.StatusExpectationFailed || !strings.Contains(answer["exception"].(string), "may not set color of ToDo") {
			t.Errorf("an undeclared field: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.disable", args{"plugin": "evil.keen"})

		s.Script(in, "good.keen", `export function hear({ doc }) { return { ...doc, priority: "High" }; }`,
			args{"events": args{"ToDo.validate": event("priority")}}, []string{"event:ToDo.validate"})
		if status, answer := save(); status != http.StatusOK || answer["data"].(map[string]any)["priority"] != "High" {
			t.Errorf("a declared field: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.revoke", args{"plugin": "good.keen", "grants": []string{"event:ToDo.validate"}})
		if status, answer := save(); status != http.StatusForbidden || !strings.Contains(answer["exception"].(string), "good.keen") {
			t.Errorf("saved without a handler whose grant was revoked: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.uninstall", args{"plugin": "good.keen"})

		user := args{"User.validate": "hear", "User.before_save": "hear"}
		s.Script(in, "evil.boss", `export function hear() { return { roles: [{ role: "System Manager" }] }; }`, args{"events": user}, []string{})
		if status, answer := s.Call("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada"}); status != http.StatusOK {
			t.Fatalf("before it is approved: %d %v", status, answer)
		}
		approve("evil.boss", "event:User.validate", "event:User.before_save")
		if status, answer := s.Call("PUT", "/api/resource/User/ada@example.com", args{"first_name": "Ada B"}); status != http.StatusExpectationFailed || !strings.Contains(answer["exception"].(string), "may not set roles of User") {
			t.Errorf("roles by a handler: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.uninstall", args{"plugin": "evil.boss"})

		s.Script(in, "evil.all", `export function hear() { throw new Error("heard"); }`, args{"events": args{"*.validate": "hear"}}, []string{})
		if status, answer := s.Call("PUT", "/api/resource/User/ada@example.com", args{"first_name": "Ada C"}); status != http.StatusOK {
			t.Errorf("a handler of all DocTypes hears of users: %d %v", status, answer)
		}
		if status, _ := save(); status == http.StatusOK {
			t.Error("a handler of all DocTypes does not hear of ToDos")
		}
		log := s.Want("GET", `/api/resource/Activity Log?fields=["subject","user"]&filters=[["operation","=","Plugins"]]&limit=50`, nil)
		if text, _ := json.Marshal(log); !strings.Contains(string(text), "Plugin good.keen: serves version 1; approved event:ToDo.validate") || !strings.Contains(string(text), "Plugin good.keen: taken back event:ToDo.validate") {
			t.Errorf("activity log %s", text)
		}
	})
}
