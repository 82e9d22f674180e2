package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"armature/core/scope"
)

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// trace is what exc holds: a string with a JSON array of strings.
func (a *answer) trace() []string {
	a.t.Helper()
	text, ok := a.body["exc"].(string)
	if !ok {
		a.t.Fatalf("exc is no string: %s", a.text)
	}
	var lines []string
	if err := json.Unmarshal([]byte(text), &lines); err != nil {
		a.t.Fatalf("exc: %v", err)
	}
	return lines
}

// messages is what _server_messages holds, parsed three times.
func (a *answer) messages() []map[string]any {
	a.t.Helper()
	text, ok := a.body["_server_messages"].(string)
	if !ok {
		a.t.Fatalf("_server_messages is no string: %s", a.text)
	}
	var items []string
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		a.t.Fatal(err)
	}
	var all []map[string]any
	for _, item := range items {
		var m map[string]any
		if err := json.Unmarshal([]byte(item), &m); err != nil {
			a.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func TestErrorBody(t *testing.T) {
	s := newSite(t)
	const message = `M "quoted" <b>`
	a := s.do(request{as: "admin", verb: "POST", path: "/api/method/test.raise"}).must(417)
	if got := a.messages()[0]; got["message"] != message || got["raise_exception"] != 1.0 || got["indicator"] != "red" {
		t.Errorf("message %v", got)
	}
	const want = "Traceback (most recent call last):\n  in test.raise\n  at todo.rs:3 in main\n  at todo.rs:7 in close\n" +
		"framework.exceptions.ValidationError: " + message
	if got := a.trace(); !slices.Equal(got, []string{want}) {
		t.Errorf("exc %q", got)
	}
	if a.body["exc_type"] != "ValidationError" || a.body["exception"] != "framework.exceptions.ValidationError: "+message {
		t.Errorf("body %s", a.text)
	}
	for _, as := range []string{"web", ""} {
		a := s.do(request{as: as, verb: "POST", path: "/api/method/test.raise"}).must(417)
		if a.body["message"] != message {
			t.Errorf("%q is told %v", as, a.body["message"])
		}
		if got := a.trace(); !slices.Equal(got, []string{"ValidationError: " + message}) || a.body["exception"] != nil {
			t.Errorf("%q sees %s", as, a.text)
		}
	}
}

func TestTracesAreHidden(t *testing.T) {
	s := newSite(t)
	s.site.HideTraces = true
	a := s.do(request{as: "admin", path: "/api/method/test.raise"}).must(417)
	if strings.Contains(a.trace()[0], "Traceback") || a.body["exception"] != nil {
		t.Errorf("got %s", a.text)
	}
	a = s.do(request{as: "admin", verb: "POST", path: "/api/resource/ToDo", body: `{}`}).must(417)
	if a.body["exc"] != nil {
		t.Errorf("got %s", a.text)
	}
}

func TestInsideStaysInside(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"test.broken", "test.panics", "test.unencodable"} {
		s.log.Reset()
		a := s.do(request{as: "admin", verb: "POST", path: "/api/method/" + path}).must(500)
		if strings.Contains(a.text, "secret") || strings.Contains(a.text, "chan") || a.body["_server_messages"] != nil ||
			a.body["message"] != "Something went wrong on the server" {
			t.Errorf("%s tells %s", path, a.text)
		}
		id := a.header.Get("X-Framework-Request-Id")
		if log := s.log.String(); !strings.Contains(log, "level=ERROR") || strings.Count(log, "id="+id) != 2 {
			t.Errorf("%s logged %s", path, log)
		}
	}
	if !strings.Contains(s.log.String(), "unsupported type") {
		t.Errorf("the cause is not in the log: %s", s.log)
	}
}

func TestStatusHeaders(t *testing.T) {
	s := newSite(t)
	a := s.do(request{path: "/api/resource/ToDo", header: http.Header{"Authorization": {"Bearer x"}, "Cookie": {"sid=abc"}}}).must(401)
	if got := a.header.Get("Www-Authenticate"); got != `Bearer error="invalid_token"` {
		t.Errorf("challenge %q", got)
	}
	if got := a.header.Values("Set-Cookie"); len(got) != 0 {
		t.Errorf("a stale token ends the session beside it: %q", got)
	}
	if a.body["message"] != "Wrong credentials" {
		t.Errorf("body %s", a.text)
	}
	a = s.do(request{as: "scoped", path: "/api/method/test.members"}).must(200)
	if a.body["message"] != "in" {
		t.Errorf("body %s", a.text)
	}
	callers["narrow"] = callers["web"]
	narrow := *callers["web"]
	narrow.Scopes = []*scope.Set{scope.Token("openid")}
	callers["narrow"] = &narrow
	a = s.do(request{as: "narrow", path: "/api/method/test.members"}).must(403)
	if got := a.header.Get("Www-Authenticate"); got != `Bearer error="insufficient_scope", scope="method:test.members"` {
		t.Errorf("challenge %q", got)
	}
	s.do(request{as: "narrow", path: "/api/method/framework.auth.get_logged_user"}).must(200)
}

func TestErrorPage(t *testing.T) {
	s := newSite(t)
	html := http.Header{"Accept": {"text/html,application/xhtml+xml"}}
	a := s.do(request{path: "/nothing%3Cscript%3E", header: html}).must(404)
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || strings.Contains(a.text, "<script>") || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("%v %s", a.header, a.text)
	}
	a = s.do(request{path: "/nothing"}).must(404)
	if a.body["exc_type"] != "PageDoesNotExistError" {
		t.Errorf("got %s", a.text)
	}
	a = s.do(request{path: "/api/nothing", header: html}).must(404)
	if a.text != `{"exc_type":"DoesNotExistError","message":"Not Found"}` {
		t.Errorf("got %s", a.text)
	}
}
