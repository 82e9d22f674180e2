package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// token is the one of the session that the page's forms carry.
func token(t *testing.T, text string) url.Values {
	t.Helper()
	found := regexp.MustCompile(`name="csrf_token" value="([0-9a-f]{64})"`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no form has a token: %s", text)
	}
	return url.Values{"csrf_token": {found[1]}}
}

func TestHome(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		for path, want := range map[string]string{"/app?x=1&y=%2F": "/login?redirect-to=%2Fapp%3Fx%3D1%26y%3D%252F", "/": "/login?redirect-to=%2F"} {
			if r := send(t, s, "GET", path, ""); r.StatusCode != 303 || r.Header.Get("Location") != want {
				t.Errorf("a guest at %s: %d %s", path, r.StatusCode, r.Header.Get("Location"))
			}
		}
		s.Admin.Put("/api/resource/User/jane@example.com", map[string]any{"first_name": "<script>alert(1)</script>Tom\u202e", "last_name": `"'&`}).OK(t)
		sid := loggedIn(t, s, "jane@example.com")
		if r := send(t, s, "GET", "/", "", "Cookie", sid); r.StatusCode != 303 || r.Header.Get("Location") != "/app" {
			t.Errorf("/: %d %v", r.StatusCode, r.Header)
		}
		r := send(t, s, "GET", "/app", "", "Cookie", sid)
		if r.StatusCode != 200 || strings.Contains(r.text, "<script") || strings.Contains(r.text, "\u202e") ||
			!strings.Contains(r.text, "<bdi>Tom &#34;&#39;&amp;</bdi>") || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
		}

		if r := send(t, s, "GET", "/logout", "", "Cookie", sid); r.StatusCode != 405 || who(t, s, sid) == "" {
			t.Errorf("a link logs out: %d", r.StatusCode)
		}
		form := token(t, r.text)
		sendForm(t, s, "/logout", nil, "Cookie", sid).fails(t, 400, "CSRFTokenError")
		sendForm(t, s, "/logout", form, "Cookie", sid, "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		if who(t, s, sid) == "" {
			t.Fatal("a forged request logged out")
		}
		r = sendForm(t, s, "/logout", form, "Cookie", sid)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/login?logged-out=1" || who(t, s, sid) != "" {
			t.Errorf("%d %v", r.StatusCode, r.Header)
		}
		if r := send(t, s, "POST", "/logout", "", "Cookie", sid); r.StatusCode != 303 {
			t.Errorf("logged out twice: %d", r.StatusCode)
		}
	})
}
