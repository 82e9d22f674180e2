package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestMethods(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name   string
		r      request
		status int
		want   string // the whole body
	}{
		{"ping", request{path: "/api/method/ping"}, 200, `{"message":"pong"}`},
		{"ping by POST", request{verb: "POST", path: "/api/method/ping"}, 200, `{"message":"pong"}`},
		{"v1", request{path: "/api/v1/method/ping"}, 200, `{"message":"pong"}`},
		{"framework.ping", request{path: "/api/method/framework.ping/"}, 200, `{"message":"pong"}`},
		{"only the first segment", request{path: "/api/method/framework.ping/extra/parts"}, 200, `{"message":"pong"}`},
		{"an alias", request{path: "/api/method/oldbrand.ping"}, 200, `{"message":"pong"}`},
		{"version", request{path: "/api/method/version"}, 200, `{"message":"1.2.3"}`},
		{"old form", request{path: "/?cmd=ping"}, 200, `{"message":"pong"}`},
		{"old form in a body", request{verb: "POST", path: "/", body: `cmd=test.echo&a=1`, typ: "application/x-www-form-urlencoded"}, 200, `{"message":{"a":"1"}}`},
		{"old form in JSON", request{verb: "POST", path: "/", body: `{"cmd":"test.echo","a":1}`}, 200, `{"message":{"a":1}}`},
		{"logged user", request{as: "web", path: "/api/method/framework.auth.get_logged_user"}, 200, `{"message":"web@example.com"}`},
		{"nothing", request{path: "/api/method/test.nothing"}, 200, `{}`},
		{"zero", request{path: "/api/method/test.zero"}, 200, `{"message":0}`},
		{"query", request{path: "/api/method/test.echo?a=1&a=2&b=x%26y&_=9&sid=s&flags=f"}, 200, `{"message":{"a":"1","b":"x&y"}}`},
		{"JSON wins over query", request{path: "/api/method/test.echo?a=1", body: `{"b":2.50,"flags":{},"ignore_permissions":1}`}, 200, `{"message":{"b":2.50}}`},
		{"escaped keys", request{path: "/api/method/test.echo", body: `{"b":2,"fl\u0061gs":{}}`}, 200, `{"message":{"b":2}}`},
		{"form and query", request{verb: "POST", path: "/api/method/test.echo?a=1&b=2", body: "a=3", typ: "application/x-www-form-urlencoded"}, 200, `{"message":{"a":"3","b":"2"}}`},
		{"array body", request{verb: "POST", path: "/api/method/test.data", body: ` [1,{"a":"b"}] `}, 200, `{"message":[1,{"a":"b"}]}`},
		{"a body of another type", request{verb: "POST", path: "/api/method/test.echo?a=1", body: "<x/>", typ: "text/xml"}, 200, `{"message":{"a":"1"}}`},
		{"message", request{path: "/api/method/test.message"}, 200, `{"message":"x","_server_messages":"[\"{\\\"message\\\":\\\"Saved\\\",\\\"indicator\\\":\\\"blue\\\"}\"]"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(tt.r).must(tt.status)
			if a.text != tt.want {
				t.Errorf("got  %s\nwant %s", a.text, tt.want)
			}
		})
	}
}

func TestMethodRefusals(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name    string
		r       request
		status  int
		excType string
		message string
		title   any
	}{
		{"unknown", request{path: "/api/method/no.such"}, 417, "ValidationError", "Failed to get method for command no.such", nil},
		{"unknown and aliased", request{path: "/api/method/oldbrand.such"}, 417, "ValidationError", "Failed to get method for command framework.such", nil},
		{"not whitelisted", request{as: "admin", path: "/api/method/acme.todo.hidden"}, 403, "PermissionError", "not whitelisted", "Method Not Allowed"},
		{"Guest", request{path: "/api/method/test.members"}, 403, "PermissionError", "log in", "Not Permitted"},
		{"Guest, logged user", request{path: "/api/method/framework.auth.get_logged_user"}, 403, "PermissionError", "", nil},
		{"role", request{as: "desk", path: "/api/method/test.managers"}, 403, "PermissionError", "may not call", nil},
		{"mutator by GET", request{as: "admin", path: "/api/method/framework.client.save"}, 403, "PermissionError", "Not permitted", nil},
		{"PATCH", request{as: "admin", verb: "PATCH", path: "/api/method/ping"}, 403, "PermissionError", "Not permitted", nil},
		{"delete by PUT", request{as: "admin", verb: "PUT", path: "/api/method/framework.client.delete"}, 403, "PermissionError", "Not permitted", nil},
		{"missing argument", request{as: "admin", path: "/api/method/framework.client.get_list"}, 417, "TypeError", "doctype", nil},
		{"malformed", request{verb: "POST", path: "/api/method/ping", body: "{"}, 417, "DataError", "Invalid request body", nil},
		{"scalar", request{verb: "POST", path: "/api/method/ping", body: "5"}, 417, "DataError", "", nil},
		{"raw, wrong verb", request{path: "/api/method/test.raw"}, 403, "PermissionError", "Not permitted", nil},
		{"raw failure", request{path: "/api/method/test.rawfails"}, 417, "ValidationError", "raw failure", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			a := s.do(tt.r).must(tt.status)
			if a.body["exc_type"] != tt.excType {
				t.Errorf("exc_type %v, want %s", a.body["exc_type"], tt.excType)
			}
			m := a.messages()[0]
			if text, _ := m["message"].(string); !strings.Contains(text, tt.message) || m["title"] != tt.title {
				t.Errorf("message %v", m)
			}
			a.trace()
		})
	}
}

func TestTransactionByVerb(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name, verb, path string
		status, stored   int
	}{
		{"GET that writes", "GET", "test.write", 200, 0},
		{"GET that says it writes", "GET", "test.declared", 200, 0},
		{"HEAD", "HEAD", "test.write", 200, 0},
		{"POST", "POST", "test.write", 200, 1},
		{"PUT", "PUT", "test.declared", 200, 1},
		{"POST that fails", "POST", "test.half", 417, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			title := strings.ReplaceAll(tt.name, " ", "_")
			s.do(request{as: "admin", verb: tt.verb, path: "/api/method/" + tt.path + "?title=" + title}).must(tt.status)
			rows := s.do(request{as: "admin", path: "/api/resource/Note?filters=%7B%22title%22:%22" + title + "%22%7D"}).must(200).rows()
			if len(rows) != tt.stored {
				t.Errorf("%d stored, want %d", len(rows), tt.stored)
			}
		})
	}
}

func TestReply(t *testing.T) {
	s := newSite(t)
	a := s.do(request{path: "/api/method/test.reply"}).must(418)
	if a.text != "<p>tea</p>" || a.header.Get("Content-Type") != "text/html" || a.header.Get("X-Teapot") != "1" {
		t.Errorf("%v %s", a.header, a.text)
	}
	if a.header.Get("Set-Cookie") != "" || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("headers %v", a.header)
	}
}

func TestRequestIsShownWithoutSecrets(t *testing.T) {
	s := newSite(t)
	a := s.do(request{as: "web", verb: "POST", path: "/api/method/test.request?a=1&s%69d=x&csrf_token=y", body: "b=2", typ: "application/x-www-form-urlencoded",
		header: http.Header{"Authorization": {"token k:s"}, "Cookie": {"sid=1"}, "X-Other": {"o"}}}).must(200)
	want := map[string]any{"query": "a=1", "body": "b=2", "authorization": "", "cookie": "", "x": "o", "verb": "POST"}
	got, _ := a.body["message"].(map[string]any)
	for key, v := range want {
		if got[key] != v {
			t.Errorf("%s is %q, want %q", key, got[key], v)
		}
	}
}

func TestRawMethods(t *testing.T) {
	s := newSite(t)
	a := s.do(request{as: "web", verb: "POST", path: "/api/method/test.raw", body: `{"a":"x"}`}).must(200)
	if a.text != "raw web@example.com x" {
		t.Errorf("got %s", a.text)
	}
	a = s.do(request{as: "web", verb: "POST", path: "/api/method/oldbrand.raw?a=y"}).must(200)
	if a.text != "raw web@example.com y" {
		t.Errorf("got %s", a.text)
	}
	a = s.do(request{as: "web", verb: "POST", path: "/", body: "cmd=test.raw&a=z", typ: "application/x-www-form-urlencoded"}).must(200)
	if a.text != "raw web@example.com z" {
		t.Errorf("got %s", a.text)
	}
	a = s.do(request{verb: "POST", path: "/api/method/test.rawclient", header: http.Header{"Authorization": {"Basic Y2xpZW50OnNlY3JldA=="}}}).must(200)
	if a.text != "client Guest" {
		t.Errorf("got %s", a.text)
	}
}

func TestClientMethods(t *testing.T) {
	s := newSite(t)
	call := func(verb, name, body string) *answer {
		t.Helper()
		return s.do(request{as: "admin", verb: verb, path: "/api/method/framework.client." + name, body: body})
	}
	made := call("POST", "insert", `{"doc":{"doctype":"Note","title":"one","content":"c"}}`).must(200)
	doc := made.body["message"].(map[string]any)
	name := doc["name"].(string)
	empty := call("POST", "insert", `{"doc":{"doctype":"ToDo","description":"d"}}`).must(200)
	if _, there := empty.body["message"].(map[string]any)["color"]; !there {
		t.Errorf("null fields are missing: %s", empty.text)
	}
	if got := call("POST", "insert_many", `{"docs":"[{\"doctype\":\"Note\",\"title\":\"two\"},{\"doctype\":\"Note\",\"title\":\"three\"}]"}`).must(200).body["message"].([]any); len(got) != 2 {
		t.Errorf("insert_many answered %v", got)
	}
	quoted := quote(name)
	tests := []struct{ verb, method, body, want string }{
		{"GET", "get_count", `{"doctype":"Note"}`, `{"message":3}`},
		{"GET", "get_count", `{"doctype":"Note","filters":[["title","=","two"]]}`, `{"message":1}`},
		{"GET", "get_list", `{"doctype":"Note","fields":["title"],"filters":{"title":["like","t%"]},"order_by":"title"}`, `{"message":[{"title":"three"},{"title":"two"}]}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"content","filters":{"title":"one"}}`, `{"message":{"content":"c"}}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"content","filters":` + quoted + `}`, `{"message":{"content":"c"}}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"[\"title\",\"content\"]","filters":"{\"title\":\"one\"}"}`, `{"message":{"title":"one","content":"c"}}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"content","filters":{"title":"one"},"as_dict":false}`, `{"message":"c"}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":["title","content"],"filters":{"title":"one"},"as_dict":false}`, `{"message":["one","c"]}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"content","filters":{"title":"none"}}`, `{"message":{}}`},
		{"GET", "get_value", `{"doctype":"Note","fieldname":"content","filters":{"title":"none"},"as_dict":0}`, `{}`},
		{"GET", "has_permission", `{"doctype":"Note","docname":` + quoted + `}`, `{"message":{"has_permission":true}}`},
	}
	for _, tt := range tests {
		if a := call(tt.verb, tt.method, tt.body).must(200); a.text != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.method, tt.body, a.text, tt.want)
		}
	}
	for _, body := range []string{`{"doctype":"Note","name":` + quoted + `}`, `{"doctype":"Note","filters":{"title":"one"}}`, `{"doctype":"Note","filters":"{\"title\":\"one\"}"}`} {
		if got := call("GET", "get", body).must(200).body["message"].(map[string]any); got["name"] != name || got["seen_by"] == nil {
			t.Errorf("get %s: %v", body, got)
		}
	}
	call("GET", "get", `{"doctype":"Note","filters":{"title":"none"}}`).must(404)
	call("GET", "get_value", `{"doctype":"Note","fieldname":"count(name)"}`).must(417)
	if got := call("PUT", "set_value", `{"doctype":"Note","name":`+quoted+`,"fieldname":"content","value":"d"}`).must(200).body["message"].(map[string]any); got["content"] != "d" {
		t.Errorf("set_value: %v", got)
	}
	if got := call("POST", "set_value", `{"doctype":"Note","name":`+quoted+`,"fieldname":{"content":"e","title":"1"}}`).must(200).body["message"].(map[string]any); got["content"] != "e" || got["title"] != "1" {
		t.Errorf("set_value: %v", got)
	}
	if a := call("POST", "set_value", `{"doctype":"Note","name":`+quoted+`,"fieldname":"owner","value":"x"}`).must(417); a.messages()[0]["message"] != "Cannot edit standard fields" {
		t.Errorf("set_value owner: %s", a.text)
	}
	call("POST", "save", `{"doc":{"doctype":"Note","name":`+quoted+`,"content":"f"}}`).must(200)
	call("POST", "save", `{"doc":{"doctype":"Note","title":"new"}}`).must(200)
	bulk := call("POST", "bulk_update", `{"docs":[{"doctype":"Note","docname":`+quoted+`,"title":"bulk"},{"doctype":"Note","docname":"none","title":"x"}]}`).must(200)
	if failed := bulk.body["message"].(map[string]any)["failed_docs"].([]any); len(failed) != 1 {
		t.Errorf("bulk_update: %s", bulk.text)
	}
	if a := call("POST", "delete", `{"doctype":"Note","name":`+quoted+`}`).must(200); a.text != "{}" {
		t.Errorf("delete: %s", a.text)
	}
	if a := call("GET", "get_count", `{"doctype":"Note"}`).must(200); a.text != `{"message":3}` {
		t.Errorf("count: %s", a.text)
	}
	docs := strings.Repeat(`{"doctype":"Note","title":"x"},`, 200) + `{"doctype":"Note","title":"x"}`
	call("POST", "insert_many", `{"docs":[`+docs+`]}`).must(417)
}

func TestChildRows(t *testing.T) {
	s := newSite(t)
	call := func(verb, name string, args map[string]any) *answer {
		t.Helper()
		text, _ := json.Marshal(args)
		return s.do(request{as: "admin", verb: verb, path: "/api/method/framework.client." + name, body: string(text)})
	}
	type object = map[string]any
	note := s.create("admin", "Note", `{"title":"n","seen_by":[{"user":"Administrator"}]}`)
	row := object{"doctype": "Note Seen By", "user": "Guest"}
	call("POST", "insert", object{"doc": row}).must(417)
	row["parent"], row["parenttype"], row["parentfield"] = note["name"], "Note", "seen_by"
	parent := call("POST", "insert", object{"doc": row}).must(200).body["message"].(object)
	rows := parent["seen_by"].([]any)
	if parent["doctype"] != "Note" || len(rows) != 2 {
		t.Fatalf("insert answered %v", parent)
	}
	first := rows[0].(object)["name"]
	parent = call("POST", "set_value", object{"doctype": "Note Seen By", "name": first, "fieldname": "user", "value": "Guest"}).must(200).body["message"].(object)
	if rows = parent["seen_by"].([]any); rows[0].(object)["user"] != "Guest" || rows[0].(object)["name"] != first {
		t.Errorf("set_value answered %v", parent)
	}
	call("DELETE", "delete", object{"doctype": "Note Seen By", "name": first}).must(200)
	read := s.do(request{as: "admin", path: "/api/resource/Note/" + note["name"].(string)}).must(200).data()
	if rows = read["seen_by"].([]any); len(rows) != 1 || rows[0].(object)["name"] == first || rows[0].(object)["idx"] != 1.0 {
		t.Errorf("left are %v", rows)
	}
}
