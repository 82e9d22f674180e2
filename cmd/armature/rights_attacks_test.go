package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// obey does what the description of a ToDo says, as a handler: the document is the
// letter that an attacker sends to a plugin that somebody else has approved.
const obey = `
export function hear({ doc: todo }) {
  if (!todo.description.startsWith("{")) return;
  const { op, a, b, c } = JSON.parse(todo.description);
  if (op === "set") return a;
  const reach = { get: doc.get, list: doc.list, insert: doc.insert, update: doc.update, delete: doc.delete, call };
  reach[op](a, b, c);
}
`

// attack is one that has to end in a refusal: path and body are called as the
// Administrator, or with a token; who may see why is told it in words.
type attack struct {
	name   string
	verb   string // empty: POST
	path   string
	body   any
	token  string // empty: the Administrator's key
	status int    // 0: 403
	say    string // a part of the answer
}

func (a attack) try(s *armaturetest.Server) {
	s.T.Helper()
	verb, want, auth := a.verb, a.status, a.token
	if verb == "" {
		verb = "POST"
	}
	if want == 0 {
		want = http.StatusForbidden
	}
	if auth == "" {
		auth = s.Auth
	}
	status, answer := s.CallAs(auth, verb, a.path, a.body)
	if text, _ := json.Marshal(answer); status != want || !strings.Contains(string(text), a.say) {
		s.T.Errorf("%s: %d %.600s; want %d and %q", a.name, status, text, want, a.say)
	}
}

// TestAttacksByPlugins: what plugins, alone and together, events, tokens and
// manifests try, on the running server.
func TestAttacksByPlugins(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		given := func(name, code string, more args, grants ...string) {
			more["grants"] = grants
			s.Script(in, name, code, more, []string{"all"})
			if len(grants) > 0 {
				s.Want("POST", "/api/method/framework.plugins.approve", args{"plugin": name, "grants": grants})
			}
		}
		given("evil.wide", reach, args{}, "resource:*:write", "method:*")
		given("evil.read", reach, args{}, "resource:Note:read")
		given("evil.first", reach, args{}, "method:evil.second.ask")
		given("evil.second", reach, args{}, "method:evil.third.*", "resource:ToDo:read")
		given("evil.third", reach, args{}, "resource:Note:read", "method:evil.first.ask")
		given("evil.raised", reach, args{}, "elevated", "resource:Note:read")
		given("evil.named", reach, args{}, "method:evil.raised.get", "method:evil.raised.ask")
		given("evil.share", reach, args{}, "method:framework.share.add", "resource:Note:write")
		given("evil.password", reach, args{}, "method:framework.client.get_password", "resource:User:read", "resource:OAuth Client:read")
		given("evil.keeper", reach, args{}, "resource:User:write", "resource:DocType:write", "resource:OAuth Client:write", "resource:DocShare:write")
		given("evil.obedient", obey, args{"events": args{"ToDo.validate": args{"export": "hear", "sets": []string{"priority"}}}})
		given("evil.late", obey, args{"events": args{"ToDo.on_update": args{"export": "hear"}}})
		given("evil.out", `
			export async function out() { return (await fetch("https://example.com/")).status; }
			export function later() { return enqueue("evil.out.out", {}); }
			export async function other() { return (await connected("x", "https://example.com/")).status; }
		`, args{}, "resource:*:write", "method:*")
		given("evil.manager", reach, args{}, "method:framework.plugins.approve")
		s.Script(in, "evil.waiting", reach, args{"grants": []string{"method:evil.wide.get"}}, nil)
		given("evil.grown", reach, args{}, "resource:Note:read")
		s.Script(in, "evil.grown", reach+"\n", args{"grants": []string{"resource:Note:read", "resource:ToDo:read"}}, nil)

		s.Want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase"})
		note := s.Want("POST", "/api/resource/Note", args{"title": "N", "content": "x"}).(map[string]any)["name"].(string)
		todo := s.Want("POST", "/api/resource/ToDo", args{"description": "x", "allocated_to": "ada@example.com"}).(map[string]any)["name"].(string)
		if status, answer := s.Call("POST", "/api/method/evil.first.ask", args{"path": "evil.second.ask", "args": args{"path": "evil.third.get", "args": args{"doctype": "Note", "name": note}}}); status != http.StatusOK {
			t.Fatalf("what three plugins were given does not work: %d %v", status, answer)
		}

		ask := func(plugin, path string, a args) (string, any) {
			return "/api/method/" + plugin + ".ask", args{"path": path, "args": a}
		}
		var attacks []attack
		add := func(name, path string, body any, say string) {
			attacks = append(attacks, attack{name: name, path: path, body: body, say: say})
		}
		asks := func(name, plugin, path string, a args, say string) {
			p, body := ask(plugin, path, a)
			add(name, p, body, say)
		}
		client := "framework.client."

		// By way of links, filters, orders and rows to what is the platform's.
		for name, query := range map[string]args{
			"a filter behind a link": {"filters": []any{[]any{"allocated_to.full_name", "like", "A%"}}},
			"an order behind a link": {"orderBy": "allocated_to.email asc"},
		} {
			add(name, "/api/method/evil.wide.list", args{"doctype": "ToDo", "query": query}, "")
		}
		asks("rows of a user", "evil.wide", client+"get_list", args{"doctype": "Has Role", "parent": "User"}, "resource:User:read")
		asks("a value of a user", "evil.wide", client+"get_value", args{"doctype": "User", "fieldname": "password_hash", "filters": args{"name": "Administrator"}}, "resource:User:read")
		asks("a count of users", "evil.wide", client+"get_count", args{"doctype": "User", "filters": args{"enabled": 1}}, "resource:User:read")
		asks("what a link fetches", "evil.wide", client+"validate_link_and_fetch", args{"doctype": "User", "docname": "Administrator", "fields_to_fetch": []string{"api_key"}}, "User")
		asks("a setting of the platform", "evil.wide", client+"get_single_value", args{"doctype": "OAuth Settings", "field": "name"}, "OAuth Settings")

		// By way of everything that changes many documents, or another one.
		asks("insert_many", "evil.wide", client+"insert_many", args{"docs": []any{args{"doctype": "Role", "role_name": "X"}}}, "resource:Role")
		asks("save", "evil.wide", client+"save", args{"doc": args{"doctype": "OAuth Settings"}}, "OAuth Settings")
		asks("the record of a plugin", "evil.wide", client+"set_value", args{"doctype": "Plugin", "name": "evil.wide", "fieldname": "grants_approved", "value": "elevated"}, "resource:Plugin")
		asks("a batch with one of the platform's", "evil.wide", client+"batch", args{"operations": []any{
			args{"op": "insert", "doctype": "Note", "doc": args{"title": "batched"}}, args{"op": "delete", "doctype": "User", "name": "ada@example.com"}}}, "resource:User")
		asks("rename by run_doc_method", "evil.wide", "run_doc_method", args{"dt": "Role", "dn": "System Manager", "method": "rename", "args": args{"name": "Nobody"}}, "Role")
		asks("an edited form by run_doc_method", "evil.wide", "run_doc_method", args{"docs": args{"doctype": "User", "name": "ada@example.com", "roles": []any{args{"role": "System Manager"}}}, "method": "submit"}, "User")
		add("a version as a document", "/api/method/evil.wide.insert", args{"doctype": "Version", "values": args{"ref_doctype": "Note", "docname": note, "data": "{}"}}, "Version")
		add("a deleted document brought back", "/api/method/evil.wide.update", args{"doctype": "Deleted Document", "name": "x", "values": args{"restored": 1}}, "Deleted Document")
		add("a new log of activities", "/api/method/evil.wide.insert", args{"doctype": "Activity Log", "values": args{"subject": "x"}}, "Activity Log")
		add("a naming rule", "/api/method/evil.wide.insert", args{"doctype": "Document Naming Rule", "values": args{"document_type": "User", "prefix": "X"}}, "Document Naming Rule")

		// Files, with no grant for them, and on documents that are out of reach.
		add("a file without a grant", "/api/method/evil.read.insert", args{"doctype": "File", "values": args{"file_name": "a.txt", "content": "x"}}, "resource:File")
		add("the list of files without a grant", "/api/method/evil.read.list", args{"doctype": "File"}, "resource:File")
		add("a file on a user", "/api/method/evil.wide.insert", args{"doctype": "File", "values": args{"file_name": "a.txt", "file_url": "https://example.com/a.txt", "attached_to_doctype": "User", "attached_to_name": "ada@example.com"}}, "User")
		add("a comment on a user", "/api/method/evil.wide.insert", args{"doctype": "Comment", "values": args{"comment_type": "Comment", "reference_doctype": "User", "reference_name": "ada@example.com", "content": "x"}}, "User")

		// Out of the server, out of the request, and in the name of others.
		for _, way := range []string{"out", "later", "other"} {
			add("to other servers, users and times: "+way, "/api/method/evil.out."+way, args{}, "")
		}

		// What was named, without what it takes beside.
		asks("sharing without the share", "evil.share", "framework.share.add", args{"doctype": "Note", "name": note, "user": "ada@example.com", "read": 1}, "DocShare")
		asks("passwords by name", "evil.password", client+"get_password", args{"doctype": "User", "name": "Administrator", "fieldname": "api_secret"}, "may not read the passwords")
		add("a redirect address", "/api/method/evil.keeper.insert", args{"doctype": "OAuth Client", "values": args{"app_name": "X", "redirect_uris": "https://evil.example", "scopes": "all"}}, "platform")
		add("a table's name", "/api/method/evil.keeper.insert", args{"doctype": "DocType", "values": args{"name": "Copy", "custom": 1, "table_name": "D_USER", "fields": []any{args{"fieldname": "a", "fieldtype": "Data"}}}}, "platform")
		add("a share of its own", "/api/method/evil.keeper.insert", args{"doctype": "DocShare", "values": args{"share_doctype": "Note", "share_name": note, "everyone": 1, "read": 1}}, "resource:Note:read")
		add("a user who is disabled", "/api/method/evil.keeper.update", args{"doctype": "User", "name": "ada@example.com", "values": args{"enabled": 0}}, "platform")
		add("a key that is emptied", "/api/method/evil.keeper.update", args{"doctype": "User", "name": "Administrator", "values": args{"api_key": ""}}, "")

		asks("managing plugins by name", "evil.manager", "framework.plugins.approve", args{"plugin": "evil.waiting"}, "managed by people")

		// Plugins that help each other.
		chain := func(path string, a args) args {
			return args{"path": "evil.second.ask", "args": args{"path": path, "args": a}}
		}
		add("the second's rights in the third", "/api/method/evil.first.ask", chain("evil.third.get", args{"doctype": "ToDo", "name": todo}), "evil.third is not granted resource:ToDo:read")
		add("the first's in the second", "/api/method/evil.first.ask", chain("evil.second.get", args{"doctype": "Note", "name": note}), "evil.second is not granted resource:Note:read")
		add("round to the first", "/api/method/evil.first.ask", chain("evil.third.ask", args{"path": "evil.first.get", "args": args{"doctype": "Note", "name": note}}), "is not granted method:evil.first.get")
		add("past the second", "/api/method/evil.first.ask", args{"path": "evil.third.get", "args": args{"doctype": "Note", "name": note}}, "is not granted method:evil.third.get")
		asks("the platform by three", "evil.first", "evil.second.ask", args{"path": "evil.third.ask", "args": args{"path": "framework.plugins.list", "args": args{}}}, "is not granted method:framework.plugins.list")
		asks("an elevated one for what it was not given", "evil.named", "evil.raised.get", args{"doctype": "ToDo", "name": todo}, "evil.raised is not granted resource:ToDo:read")
		asks("an elevated one for users", "evil.named", "evil.raised.ask", args{"path": client + "get_list", "args": args{"doctype": "User"}}, "evil.raised")
		asks("an elevated one by a wildcard", "evil.wide", "evil.raised.get", args{"doctype": "Note", "name": note}, "method:evil.raised.get")
		attacks = append(attacks, attack{name: "an unapproved one uses an approved one", path: "/api/method/evil.waiting.ask", status: http.StatusExpectationFailed, body: args{"path": "evil.wide.get"}, say: "method:evil.wide.get"})
		add("a version that waits", "/api/method/evil.grown.get", args{"doctype": "ToDo", "name": todo}, "resource:ToDo:read")

		// By way of a handler, and of a GET.
		letter := func(op string, a ...any) args {
			l := args{"op": op}
			for i, v := range a {
				l[string(rune('a'+i))] = v
			}
			text, _ := json.Marshal(l)
			return args{"description": string(text)}
		}
		add("another document in an event", "/api/resource/ToDo", letter("get", "Note", note), "evil.late is not granted resource:Note:read")
		add("another document of the same type in an event", "/api/resource/ToDo", letter("get", "ToDo", todo), "is not granted resource:ToDo:read")
		add("a list in an event", "/api/resource/ToDo", letter("list", "ToDo", args{}), "is not granted resource:ToDo:read")
		add("a user in an event", "/api/resource/ToDo", letter("insert", "User", args{"email": "x@example.com", "first_name": "X"}), "is not granted resource:User")
		add("a method in an event", "/api/resource/ToDo", letter("call", "evil.wide.get", args{"doctype": "Note", "name": note}), "is not granted method:evil.wide.get")
		for name, values := range map[string]args{
			"the owner": {"owner": "ada@example.com"}, "the name": {"name": "other"}, "another field": {"allocated_to": "ada@example.com"},
			"docstatus": {"docstatus": 1}, "modified_by": {"modified_by": "ada@example.com"},
		} {
			attacks = append(attacks, attack{name: name + " set by a handler", path: "/api/resource/ToDo", body: letter("set", values), status: http.StatusExpectationFailed, say: "may not set"})
		}
		attacks = append(attacks, attack{name: "by GET", verb: "GET", path: "/api/method/evil.wide.get?doctype=User&name=Administrator", say: "resource:User:read"})
		for name, a := range map[string]attack{
			"a filter on another type": {path: "/api/method/evil.wide.list", body: args{"doctype": "ToDo", "query": args{"filters": []any{[]any{"User", "email", "like", "a%"}}}}, say: "not permitted in query"},
			"a flow of another site's": {path: "/api/method/evil.wide.ask", body: args{"path": "run_doc_method", "args": args{"dt": "Connected App", "dn": "x", "method": "initiate_web_application_flow"}}, say: "cannot be called from within"},
		} {
			a.name, a.status = name, http.StatusExpectationFailed
			attacks = append(attacks, a)
		}
		for _, a := range attacks {
			if a.path == "/api/resource/ToDo" && a.say != "may not set" {
				a.say = strings.TrimPrefix(a.say, "evil.late ") // whichever of the two is asked first
			}
			a.try(s)
		}
		for name, a := range map[string]attack{
			"fields behind a link": {path: "/api/method/evil.wide.list", body: args{"doctype": "ToDo", "query": args{"fields": []string{"name", "allocated_to.full_name", "allocated_to.api_key"}}}},
			"bulk_update":          {path: "/api/method/evil.wide.ask", body: args{"path": client + "bulk_update", "args": args{"docs": []any{args{"doctype": "User", "docname": "ada@example.com", "enabled": 0}}}}, say: "is not granted resource:User:update"},
		} {
			a.name, a.status = name, http.StatusOK
			a.try(s)
			if _, answer := s.Call("POST", a.path, a.body); strings.Contains(fmt.Sprint(answer), "full_name:Ada") {
				t.Errorf("%s: %v", name, answer)
			}
		}
		if enabled := s.Want("GET", "/api/resource/User/ada@example.com", nil).(map[string]any)["enabled"]; fmt.Sprint(enabled) != "1" {
			t.Error("a plugin has disabled a user")
		}
		tokensThroughPlugins(s, note, todo)
		manifests(s, in)
		log := s.Want("GET", `/api/resource/Activity Log?fields=["subject"]&filters=[["operation","=","Plugins"],["status","=","Failed"]]&limit=50`, nil)
		if !strings.Contains(fmt.Sprint(log), "evil.waiting: refused: Plugins are managed by people") {
			t.Errorf("what a plugin tried is not in the log: %v", log)
		}

		if got := s.Want("GET", `/api/resource/Note?filters=[["title","=","batched"]]`, nil); len(got.([]any)) != 0 {
			t.Errorf("half of a batch is there: %v", got)
		}
		if n := s.Want("GET", `/api/method/framework.client.get_count?doctype=User`, nil); fmt.Sprint(n) != "3" {
			t.Errorf("%v users", n)
		}
		for _, kind := range []string{"DocShare", "OAuth Client", "File"} {
			if got := s.Want("GET", "/api/resource/"+strings.ReplaceAll(kind, " ", "%20")+`?filters=[["owner","=","Administrator"],["name","!=","Home"]]`, nil); kind == "DocShare" && len(got.([]any)) != 0 {
				t.Errorf("%s: %v", kind, got)
			}
		}
	})
}

// tokensThroughPlugins: each narrow scope of a token allows its own way to change a
// document and no other, by itself and through a plugin that may do them all.
func tokensThroughPlugins(s *armaturetest.Server, note, todo string) {
	s.T.Helper()
	s.Want("PUT", "/api/resource/User/ada@example.com", args{"roles": []any{args{"role": "System Manager"}}})
	ways := map[string]struct {
		verb, path string
		body       any
		method     string
		args       args
	}{
		"read":   {"GET", "/api/resource/ToDo/" + todo, nil, "evil.wide.get", args{"doctype": "ToDo", "name": todo}},
		"create": {"POST", "/api/resource/ToDo", args{"description": "t"}, "evil.wide.insert", args{"doctype": "ToDo", "values": args{"description": "t"}}},
		"update": {"PUT", "/api/resource/ToDo/" + todo, args{"color": "#ff0000"}, "evil.wide.update", args{"doctype": "ToDo", "name": todo, "values": args{"color": "#00ff00"}}},
		"delete": {"DELETE", "/api/resource/ToDo/nothing", nil, "evil.wide.remove", args{"doctype": "ToDo", "name": "nothing"}},
	}
	for _, scope := range []string{"read", "create", "update", "delete", "submit"} {
		token := s.Bearer(s.T, "method:evil.wide.* resource:ToDo:"+scope)
		for way, w := range ways {
			allowed := way == scope
			for door, call := range map[string]func() (int, map[string]any){
				"by itself":        func() (int, map[string]any) { return s.CallAs(token, w.verb, w.path, w.body) },
				"through a plugin": func() (int, map[string]any) { return s.CallAs(token, "POST", "/api/method/"+w.method, w.args) },
			} {
				status, answer := call()
				if refused := status == http.StatusForbidden; refused == allowed {
					s.T.Errorf("a token of %s: to %s a document %s: %d %.300v", scope, way, door, status, answer)
				}
			}
		}
		attack{name: "a token of " + scope + " on another type", path: "/api/method/evil.wide.get", token: token, body: args{"doctype": "Note", "name": note}}.try(s)
		attack{name: "a token of " + scope + " approves", path: "/api/method/framework.plugins.approve", token: token, body: args{"plugin": "evil.waiting"}}.try(s)
	}
}

// manifests: what a plugin brings and calls itself is judged before anything of it
// is there.
func manifests(s *armaturetest.Server, in *armaturetest.Installation) {
	s.T.Helper()
	rule := []any{args{"role": "System Manager", "read": 1, "write": 1, "create": 1}}
	brings := func(more args, fields ...args) args {
		def := args{"name": "Brought", "fields": fields, "permissions": rule}
		for k, v := range more {
			def[k] = v
		}
		return args{"doctypes": []any{def}, "grants": []string{}}
	}
	data := args{"fieldname": "a", "fieldtype": "Data"}
	for name, m := range map[string]struct {
		manifest args
		waits    string
	}{
		"rows of the platform":      {brings(nil, args{"fieldname": "roles", "fieldtype": "Table", "options": "Has Role"}), "resource:Has Role:write"},
		"a link to users":           {brings(nil, args{"fieldname": "u", "fieldtype": "Link", "options": "User"}), "resource:User:read"},
		"a copy of keys":            {brings(nil, args{"fieldname": "u", "fieldtype": "Link", "options": "User"}, args{"fieldname": "k", "fieldtype": "Data", "fetch_from": "u.api_key"}), "resource:User:read"},
		"a type open to everybody":  {brings(args{"permissions": []any{args{"role": "Guest", "read": 1}}}, data), "public:Brought"},
		"a handler of users":        {args{"events": args{"User.validate": "get"}}, "event:User.validate"},
		"a handler that runs as it": {args{"events": args{"ToDo.after_insert": args{"export": "get", "run_as": "plugin"}}}, "run_as:plugin"},
	} {
		done := tryScript(s, in, "evil.brings", m.manifest)
		if text, _ := json.Marshal(done["grants_waiting"]); done["status"] != "Awaiting Approval" || !strings.Contains(string(text), m.waits) {
			s.T.Errorf("%s: %v", name, done)
		}
		if status, _ := s.Call("GET", "/api/resource/DocType/Brought", nil); status != http.StatusNotFound {
			s.T.Errorf("%s: what waits has made its DocType", name)
		}
		s.Want("POST", "/api/method/framework.plugins.uninstall", args{"plugin": "evil.brings"})
	}
	tryScript(s, in, "evil.table", brings(args{"table_name": "D_USER"}, data))
	if got := fmt.Sprint(s.Want("GET", "/api/resource/DocType/Brought", nil)); strings.Contains(got, "table_name:D_USER") {
		s.T.Errorf("a plugin has chosen a table: %s", got)
	}
	for name, m := range map[string]struct {
		plugin   string
		manifest args
	}{
		"a DocType of the platform":    {"evil.user2", brings(args{"name": "User"}, data)},
		"a DocType that belongs to it": {"evil.todo2", brings(args{"name": "ToDo"}, data)},
		"the beginning of a name":      {"evil.wide.more", args{}},
		"a name of the platform":       {"framework.evil", args{}},
	} {
		done := tryScript(s, in, m.plugin, m.manifest)
		if done["exc_type"] == nil {
			s.T.Errorf("%s is installed: %v", name, done)
		}
	}
}

// tryScript is script, of which any part may be refused.
func tryScript(s *armaturetest.Server, in *armaturetest.Installation, name string, manifest args) map[string]any {
	s.T.Helper()
	dir := filepath.Join(s.T.TempDir(), "p")
	manifest["name"], manifest["version"], manifest["abi"] = name, "1", 1
	text, err := json.Marshal(manifest)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for file, content := range map[string][]byte{"main.js": []byte(reach), "armature.json": text} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), content, 0o644)
		}
	}
	if err != nil {
		s.T.Fatal(err)
	}
	built := filepath.Join(dir, "out.wasm")
	if _, stderr, err := in.Try("", "plugin", "build", dir, "-o", built); err != nil {
		return map[string]any{"exc_type": "build", "text": stderr}
	}
	wasm, err := os.ReadFile(built)
	if err != nil {
		s.T.Fatal(err)
	}
	_, answer := s.Upload(s.Auth, "/api/method/framework.plugins.install", wasm)
	if done, ok := answer["message"].(map[string]any); ok {
		return done
	}
	return answer
}
