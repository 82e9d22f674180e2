package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/core/oauth"
	"armature/core/web"
)

func pages() *web.Pages {
	return web.New(web.Config{Name: func() string { return "Test & Co" }})
}

func consent(t *testing.T, c oauth.Consent) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	if err := pages().Consent(w, httptest.NewRequest("GET", "/", nil), c); err != nil {
		t.Fatal(err)
	}
	return w.Result(), w.Body.String()
}

func TestConsentPage(t *testing.T) {
	res, text := consent(t, oauth.Consent{
		Client: "c1", Name: "<b>Evil\u202e\n  \"App\" " + strings.Repeat("x", 200), RedirectURI: "https://bank.example@evil.example:8443/cb?x=1",
		Scopes: []string{"openid", "resource:Sales%20Order:read"}, User: "jane@example.com", FullName: "Jane <i>",
		Request: "/api/method/a?state=1&b=%22", Action: "/approve?csrf_token=t", Hidden: [][2]string{{"request", `"><script>`}},
	})
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Frame-Options") != "DENY" || res.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	policy := res.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "form-action") || strings.Contains(policy, "script-src") {
		t.Errorf("policy %s", policy)
	}
	for _, want := range []string{
		"&lt;b&gt;Evil &#34;App&#34; xxx", "x…", "Jane &lt;i&gt;", "Read documents of the type Sales Order that you may read",
		"your name, e-mail address", "<strong><bdi>evil.example</bdi></strong>, at <bdi>evil.example:8443</bdi>", `name="request" value="&#34;&gt;&lt;script&gt;"`, "Test &amp; Co",
		`action="/approve?csrf_token=t"`, `method="post"`, `value="allow"`, `value="deny"`,
		`href="/login?redirect-to=%2Fapi%2Fmethod%2Fa%3Fstate%3D1%26b%3D%2522&amp;switch=1"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, never := range []string{"<b>", "<i>", "<script", "\u202e", "bank.example", "ZgotmplZ"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// TestWhoAsks: a long name cannot hide whose it is, a stranger is called one, and
// everything is not asked for as if it were little.
func TestWhoAsks(t *testing.T) {
	_, text := consent(t, oauth.Consent{
		Name: "Google", Itself: true, RedirectURI: "https://accounts.google.com." + strings.Repeat("very-long.", 10) + "evil.co.uk/cb",
		Scopes: []string{"openid", "all", "resource:ToDo:read"}, Policy: "https://evil.co.uk/policy?a=1&b=2", Terms: "javascript:alert(1)",
	})
	for _, want := range []string{
		"<h1>Let <bdi>evil.co.uk</bdi> use", "<strong><bdi>evil.co.uk</bdi></strong>, at <bdi>accounts.google.com.very-long.", ".evil.co.uk</bdi>",
		"registered itself", `id="all"`, `value="allow" class="plain"`, `href="https://evil.co.uk/policy?a=1&amp;b=2"`,
		`href="/app/authorized-apps"`, "Do everything",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, never := range []string{"javascript:", "Its terms", "ToDo"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %q", never)
		}
	}
	_, text = consent(t, oauth.Consent{Name: "Portal", RedirectURI: "https://portal.github.io/cb", Scopes: []string{"openid"}})
	if !strings.Contains(text, "<h1>Let <bdi>portal.github.io</bdi> use") || strings.Contains(text, "registered itself") || strings.Contains(text, `id="all"`) ||
		strings.Contains(text, `value="allow" class="plain"`) {
		t.Errorf("a client of an administrator: %s", text)
	}
}

func TestScopesInWords(t *testing.T) {
	for scope, want := range map[string]string{
		"all":                  "Do everything that you can do here",
		"resource:*:read":      "Read all documents that you may read",
		"resource:*:write":     "Read, create, change and delete all documents, as far as you may",
		"resource:A:B:write":   "documents of the type A:B, as far",
		"method:acme.*":        "Call the methods whose names begin with acme.",
		"method:acme.close":    "Call the method acme.close",
		"method:*":             "Call every method that you may call",
		"offline_access":       "Use “offline_access”, which this site does not know",
		"resource:ToDo:delete": "Use “resource:ToDo:delete”, which",
		"resource:%zz:read":    "Use “resource:%zz:read”, which",
		"method:":              "Use “method:”, which",
	} {
		if _, text := consent(t, oauth.Consent{Scopes: []string{scope}}); !strings.Contains(text, want) {
			t.Errorf("%s is not %q", scope, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for uri, want := range map[string]string{
		"https://app.example/cb":        "It goes to <strong><bdi>app.example</bdi></strong>.",
		"http://app.example:8080/cb":    "It goes to <strong><bdi>app.example</bdi></strong>, at <bdi>app.example:8080</bdi>, over a connection that others can read.",
		"http://127.0.0.1:4321/cb":      "a program on this device, at <strong><bdi>127.0.0.1:4321</bdi></strong>.",
		"http://[::1]:4321/cb":          "a program on this device, at <strong><bdi>[::1]:4321</bdi></strong>.",
		"http://localhost/cb":           "a program on this device, at <strong><bdi>localhost</bdi></strong>.",
		"http://localhost.evil.example": "It goes to <strong><bdi>evil.example</bdi></strong>, at <bdi>localhost.evil.example</bdi>, over",
		"com.example.app:/cb":           "opens links beginning with <strong><bdi>com.example.app:</bdi></strong>.",
		"https://b\u0430nk.example/":    "<bdi>xn--bnk-6cd.example</bdi>",
		"https://[::1":                  "<bdi>https://[::1</bdi>",
		"":                              "It goes to <strong>",
	} {
		if _, text := consent(t, oauth.Consent{RedirectURI: uri}); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q in %s", uri, want, text[strings.Index(text, "Where the answer"):])
		}
	}
}

func TestOAuthErrorPage(t *testing.T) {
	w := httptest.NewRecorder()
	err := pages().OAuthError(w, httptest.NewRequest("GET", "/", nil), oauth.PageError{Status: 400, Code: "invalid_request", Description: "Mismatching <redirect> URI"})
	if err != nil || w.Code != 400 || !strings.Contains(w.Body.String(), "Mismatching &lt;redirect&gt; URI") || !strings.Contains(w.Body.String(), "invalid_request") ||
		w.Header().Get("X-Frame-Options") != "DENY" {
		t.Errorf("%v %d %v %s", err, w.Code, w.Header(), w.Body)
	}
}
