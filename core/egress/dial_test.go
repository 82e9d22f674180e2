package egress_test

import (
	"net/http"
	"testing"

	"armature/core/egress"
	"armature/core/fault"
)

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }

func TestPrivateByNameOnly(t *testing.T) {
	w := newWorld(t, ok)
	w.names.set("other.test", "127.0.0.1")
	p := egress.DefaultPolicy(w.hosts("app.test", "other.test", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "localhost"))
	for _, host := range []string{"app.test", "other.test", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "localhost"} {
		w.refused(fault.Permission, p, egress.Request{URL: w.url(host, "/")})
	}
	if n := w.dialled.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}

	p.Private = w.hosts("app.test")
	if got := w.get(p, "/"); string(got.Body) != "ok" {
		t.Errorf("answer %+v", got)
	}
	w.refused(fault.Permission, p, egress.Request{URL: w.url("other.test", "/")})
	w.refused(fault.Permission, p, egress.Request{URL: w.url("127.0.0.1", "/")})

	p.Allowed = egress.Hosts{} // to be private is not to be allowed
	w.refused(fault.Permission, p, egress.Request{URL: w.url("app.test", "/")})
}

// TestForbiddenAddresses: there are addresses which no name makes reachable.
func TestForbiddenAddresses(t *testing.T) {
	w := newWorld(t, ok)
	for _, a := range []string{
		"0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "192.0.2.1", "100.100.100.200",
		"::", "fe80::1", "ff02::1", "fd00:ec2::254", "2002:7f00:1::", "64:ff9b::a9fe:a9fe", "::ffff:169.254.169.254",
	} {
		w.names.set("app.test", a)
		w.refused(fault.Permission, w.policy(), egress.Request{URL: w.url("app.test", "/")})
	}
}

// TestRebinding: a name that was public when somebody looked is private when the
// connection is made.
func TestRebinding(t *testing.T) {
	w := newWorld(t, ok)
	p := egress.DefaultPolicy(w.hosts("app.test"))
	w.names.set("app.test", "1.1.1.1")
	if list, err := w.names.resolver().LookupHost(t.Context(), "app.test"); err != nil || list[0] != "1.1.1.1" {
		t.Fatal(list, err)
	}
	w.names.set("app.test", "127.0.0.1")
	w.refused(fault.Permission, p, egress.Request{URL: w.url("app.test", "/")})
	if n := w.dialled.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	if w.names.asked != 2 {
		t.Errorf("the name was looked up %d times", w.names.asked-1)
	}
}

// TestMixedAddresses: of several addresses only those allowed are tried.
func TestMixedAddresses(t *testing.T) {
	w := newWorld(t, ok)
	w.names.set("app.test", "169.254.169.254", "0.0.0.0", "127.0.0.1")
	if got := w.get(w.policy(), "/"); string(got.Body) != "ok" {
		t.Errorf("answer %+v", got)
	}
}

// TestPoolKeepsPermissions: an idle connection is given to nobody who could not
// have made it.
func TestPoolKeepsPermissions(t *testing.T) {
	w := newWorld(t, ok)
	for range 3 {
		w.get(w.policy(), "/")
	}
	if n := w.dialled.Load(); n != 1 {
		t.Errorf("%d connections for three requests", n)
	}
	p := w.policy()
	p.Private = egress.Hosts{}
	w.refused(fault.Permission, p, egress.Request{URL: w.url("app.test", "/")})
	w.get(w.policy(), "/")
	if n := w.dialled.Load(); n != 1 {
		t.Errorf("%d connections in the end", n)
	}
}

func TestEnvironmentProxyIsIgnored(t *testing.T) {
	proxy := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.server.URL)
	}
	w := newWorld(t, ok)
	if got := w.get(w.policy(), "/"); got.Status != http.StatusOK || proxy.dialled.Load() != 0 {
		t.Errorf("answer %+v, %d connections to the proxy", got, proxy.dialled.Load())
	}
}

func TestTLS(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Proto)) }
	policy := func(w *world) egress.Policy {
		w.names.set("api.example.com", "127.0.0.1")
		w.names.set("wrong.test", "127.0.0.1")
		p := egress.DefaultPolicy(w.hosts("api.example.com", "wrong.test"))
		p.Private = p.Allowed
		return p
	}
	w := newTLSWorld(t, true, handler)
	p := policy(w)
	// httptest's certificate is for example.com and the names below it.
	if got := w.do(p, egress.Request{URL: "https://api.example.com:" + w.port}); string(got.Body) != "HTTP/1.1" {
		t.Errorf("answer %q", got.Body)
	}
	w.refused(fault.Unavailable, p, egress.Request{URL: "https://wrong.test:" + w.port})
	w.refused(fault.Permission, egress.DefaultPolicy(p.Allowed), egress.Request{URL: "https://api.example.com:" + w.port})

	w = newTLSWorld(t, false, handler)
	p = policy(w)
	if text := w.refused(fault.Unavailable, p, egress.Request{URL: "https://api.example.com:" + w.port}); text != "The certificate of api.example.com:"+w.port+" is not valid" {
		t.Errorf("message %q", text)
	}
}

func TestUnreachable(t *testing.T) {
	w := newWorld(t, ok)
	w.server.Close()
	w.refused(fault.Unavailable, w.policy(), egress.Request{URL: w.url("app.test", "/")})
	w.refused(fault.Unavailable, egress.DefaultPolicy(w.hosts("nowhere.test")), egress.Request{URL: w.url("nowhere.test", "/")})
}
