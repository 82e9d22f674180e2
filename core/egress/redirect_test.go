package egress_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"armature/core/egress"
	"armature/core/fault"
)

// redirecting answers /to?<status>&<location> with a redirect and mirrors
// everything else.
func redirecting(w http.ResponseWriter, r *http.Request) {
	status, location, ok := strings.Cut(r.URL.RawQuery, "&")
	if r.URL.Path != "/to" || !ok {
		mirror(w, r)
		return
	}
	n, _ := strconv.Atoi(status)
	w.Header()["Location"] = []string{location}
	w.WriteHeader(n)
}

func newRedirects(t *testing.T) (*world, egress.Policy) {
	t.Helper()
	w := newWorld(t, redirecting)
	w.names.set("other.test", "127.0.0.1")
	w.names.set("inside.test", "127.0.0.1")
	p := egress.DefaultPolicy(w.hosts("app.test", "other.test", "inside.test", "127.0.0.1"))
	p.Private = w.hosts("app.test", "other.test")
	return w, p
}

func TestRedirectMethods(t *testing.T) {
	w, p := newRedirects(t)
	tests := []struct {
		status       int
		method, want string
		body         string
	}{
		{301, "GET", "GET", ""}, {302, "GET", "GET", ""}, {307, "GET", "GET", ""},
		{301, "POST", "GET", ""}, {302, "POST", "GET", ""}, {303, "POST", "GET", ""}, {303, "PUT", "GET", ""},
		{307, "POST", "POST", "x"}, {308, "PUT", "PUT", "x"},
	}
	for _, tt := range tests {
		r := egress.Request{
			Method: tt.method, URL: w.url("app.test", "/to?"+strconv.Itoa(tt.status)+"&there"),
			Header: http.Header{"Content-Type": {"text/plain"}, "Authorization": {"token"}},
		}
		if tt.method != "GET" {
			r.Body = []byte("x")
		}
		got := read(t, w.do(p, r))
		if got.Method != tt.want || got.Body != tt.body || got.URI != "/there" || got.Header.Get("Authorization") != "token" {
			t.Errorf("%d after %s: the server saw %+v", tt.status, tt.method, got)
		}
		if kept := got.Header.Get("Content-Type") != ""; kept != (tt.body != "" || tt.method == "GET") {
			t.Errorf("%d after %s: Content-Type is %q", tt.status, tt.method, got.Header.Get("Content-Type"))
		}
	}
	p.Methods = []string{"POST"}
	w.refused(fault.Permission, p, egress.Request{Method: "POST", URL: w.url("app.test", "/to?303&there")})
}

// TestRedirectsForgetSecrets: another host learns nothing that was meant for the
// first, and nor does the first when the way leads back to it.
func TestRedirectsForgetSecrets(t *testing.T) {
	w, p := newRedirects(t)
	header := http.Header{"Authorization": {"s"}, "Cookie": {"s"}, "X-Api-Key": {"s"}, "Private-Token": {"s"}, "Accept": {"text/html"}, "User-Agent": {"mine"}}
	there := w.url("other.test", "/there")
	back := w.url("other.test", "/to?302&"+w.url("app.test", "/there"))
	for _, location := range []string{there, back} {
		got := read(t, w.do(p, egress.Request{URL: w.url("app.test", "/to?302&"+location), Header: header}))
		for name, values := range got.Header {
			if values[0] == "s" {
				t.Errorf("%s came along to %s", name, got.Host)
			}
		}
		if got.Header.Get("Accept") != "text/html" || got.Header.Get("User-Agent") != "mine" || got.Header.Get("Referer") != "" {
			t.Errorf("%s saw the header %v", got.Host, got.Header)
		}
	}
	if header.Get("Cookie") == "" {
		t.Error("the caller's header was changed")
	}
}

func TestRedirectsRefused(t *testing.T) {
	w, p := newRedirects(t)
	tests := []struct {
		location string
		kind     fault.Kind
	}{
		{w.url("evil.test", "/"), fault.Permission},
		{"//evil.test/", fault.Permission},
		{"http://app.test:1/", fault.Permission},
		{"https://app.test/", fault.Permission},
		{w.url("inside.test", "/"), fault.Permission}, // allowed, and private without permission
		{w.url("127.0.0.1", "/"), fault.Permission},
		{w.url("169.254.169.254", "/latest/meta-data/"), fault.Permission},
		{w.url("[::1]", "/"), fault.Permission},
		{"file:///etc/passwd", fault.Unavailable},
		{"gopher://other.test/", fault.Unavailable},
		{"javascript:alert(1)", fault.Unavailable},
		{"http://user:pw@app.test:" + w.port + "/", fault.Unavailable},
		{"http://", fault.Unavailable},
		{"http://127.1/", fault.Unavailable},
		{"/" + strings.Repeat("x", 9000), fault.Unavailable},
	}
	for _, tt := range tests {
		w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header()["Location"] = []string{tt.location}
			rw.WriteHeader(http.StatusFound)
		})
		text := w.refused(tt.kind, p, egress.Request{URL: w.url("app.test", "/")})
		if !strings.HasPrefix(text, "app.test:") || strings.Contains(text, "meta-data") {
			t.Errorf("%s: message %q", tt.location, text)
		}
		// The host to be allowed is named, and it alone.
		if strings.Contains(tt.location, "evil.test") && !strings.Contains(text, " redirects to evil.test") {
			t.Errorf("%s: message %q names no host", tt.location, text)
		}
	}
}

func TestRedirectCount(t *testing.T) {
	w, p := newRedirects(t)
	chain := func(n int) string {
		path := "/there"
		for range n {
			path = "/to?302&" + path
		}
		return path
	}
	if got := read(t, w.get(p, chain(egress.DefaultMaxRedirects))); got.URI != "/there" {
		t.Errorf("the server saw %+v", got)
	}
	w.refused(fault.Unavailable, p, egress.Request{URL: w.url("app.test", chain(egress.DefaultMaxRedirects+1))})

	p.MaxRedirects = 0
	if got := w.get(p, chain(1)); got.Status != 302 || got.Header.Get("Location") != "/there" {
		t.Errorf("answer %+v", got)
	}
}
