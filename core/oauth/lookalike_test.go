package oauth_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// register registers a client as anybody may.
func (w *world) register(values map[string]any) string {
	w.t.Helper()
	made := w.Guest.On(w.t).Post(prefix+"register_client", values)
	if made.Status != http.StatusCreated {
		w.t.Fatalf("%d %s", made.Status, made.Text)
	}
	return made.Body["client_id"].(string)
}

var calledItself = regexp.MustCompile(`calls itself <strong><bdi>([^<]*)</bdi>`)

// TestLookAlikes: a client that registered itself is not called like one that an
// administrator made, nor like the site, however it writes that.
func TestLookAlikes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, map[string]any{"app_name": "Payroll Online", "skip_authorization": 0})
		w.client(map[string]any{"app_name": "Зарплата"})
		w.client(map[string]any{"app_name": "App"})
		w.configure("app_name", "Muster & Söhne")
		const where = "evil.example"
		for name, shown := range map[string]string{
			"Payroll Online": where, "payroll online": where, "PAYROLL-ONLINE": where, "PayroIl 0nline": where, "Payr\u043ell Online": where,
			"P\u0430yroll Online": where, "Pay\u200broll Online": where, "Páyröll Onlíne": where, "Payroll Online (official)": where, "ＰａｙｒｏｌｌOnline": where,
			"Payro|| On1ine": where, "My Payrollonline": where, "Раyrоll": where, "3арплата": where, "ЗАРПЛАТА": where,
			"Muster & Söhne": where, "Muster und Soehne": "Muster und Soehne", "muster sohne login": where, "Mustersöhne": where, "Mu\u0455ter": where,
			"App": where, "Apple Pie": "Apple Pie", "Notes": "Notes", "Zürich Notes ☕": "Zürich Notes ☕", "日記": "日記", "Дневник": "Дневник",
			"\u202e": where, "...": where, "Gооgle": where,
		} {
			id := w.register(map[string]any{"client_name": name, "redirect_uris": []string{"https://evil.example/cb"}, "token_endpoint_auth_method": "none"})
			ask := w.query("client_id", id, "redirect_uri", "https://evil.example/cb", "scope", "openid", "code_challenge", s256, "code_challenge_method", "S256")
			page := w.browser.get(ask).ok()
			m := calledItself.FindStringSubmatch(page.text)
			if m == nil || html.UnescapeString(m[1]) != shown {
				t.Errorf("%q is shown as %q, want %q", name, m, shown)
			}
			if !strings.Contains(page.text, "Nobody here has checked it") {
				t.Errorf("%q is not said to be unchecked", name)
			}
			login := w.guest().get("/login?redirect-to=" + url.QueryEscape(ask)).ok()
			if m := calledItself.FindStringSubmatch(login.text); m == nil || html.UnescapeString(m[1]) != shown || !strings.Contains(login.text, "Nobody here has checked it") {
				t.Errorf("the login says %q for %q, want %q", m, name, shown)
			}
		}
		// The older of two is told apart as well.
		id := w.register(map[string]any{"client_name": "Timesheet", "redirect_uris": []string{"https://evil.example/cb"}})
		ask := w.query("client_id", id, "redirect_uri", "https://evil.example/cb", "scope", "openid")
		if m := calledItself.FindStringSubmatch(w.browser.get(ask).ok().text); m[1] != "Timesheet" {
			t.Errorf("shown as %q", m[1])
		}
		w.client(map[string]any{"app_name": "Time-Sheet"})
		if m := calledItself.FindStringSubmatch(w.browser.get(ask).ok().text); m[1] != where {
			t.Errorf("shown as %q", m[1])
		}
		w.browser.decide(w.browser.get(ask).consent(), "allow")
		code := w.browser.decide(w.browser.get(ask).consent(), "allow").redirected("https://evil.example/cb").Get("code")
		if code == "" {
			t.Fatal("no code")
		}
	})
}

// TestLoginSaysWhoAsks: the login page names the application, and fills in whom it
// means; it does so for a request that can be met, and for nothing else.
func TestLoginSaysWhoAsks(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, map[string]any{"app_name": "Acme <b>"})
		login := func(to string) string { return w.guest().get("/login?redirect-to=" + url.QueryEscape(to)).ok().text }
		page := login(w.query("login_hint", `jane"><@example.com`))
		for _, want := range []string{"<bdi>Acme &lt;b&gt;</bdi></strong> asks you to log in.", `name="usr" type="text" value="jane&#34;&gt;&lt;@example.com"`} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q in %s", want, page)
			}
		}
		if strings.Contains(page, "Nobody here has checked") {
			t.Error("an administrator's client is said to be unchecked")
		}
		guest := w.guest()
		sent := guest.get(w.query("login_hint", "jane@example.com"))
		if a := guest.get(sent.location).ok(); !strings.Contains(a.text, "asks you to log in") || !strings.Contains(a.text, `value="jane@example.com"`) {
			t.Errorf("where a guest is sent: %s", a.text)
		}
		if a := guest.post("/login", url.Values{"usr": {"jane@example.com"}, "pwd": {"wrong"}, "redirect-to": {w.query()}}); !strings.Contains(a.text, "asks you to log in") {
			t.Errorf("after a wrong password: %s", a.text)
		}
		if a := w.browser.get("/login?switch=1&redirect-to=" + url.QueryEscape(w.query())).ok(); !strings.Contains(a.text, "asks you to log in") {
			t.Error("not said to who wants to be somebody else")
		}
		for name, to := range map[string]string{
			"nobody's id":          w.query("client_id", "nobody"),
			"another redirect URI": w.query("redirect_uri", "https://evil.example/"),
			"another page":         "/app?" + strings.SplitN(w.query(), "?", 2)[1],
			"nothing":              "",
			"a broken query":       prefix + "authorize?%zz",
			"another site":         "https://evil.example" + w.query(),
			"this site's address":  w.query("client_id", strings.Replace(w.URL, "http:", "https:", 1)+"/files/x.json"),
		} {
			if page := login(to); strings.Contains(page, "asks you to log in") {
				t.Errorf("%s: the login page names an application", name)
			}
		}
		if page := login(w.query("login_hint", "a\u202eb")); !strings.Contains(page, `name="usr" type="text" value=""`) {
			t.Error("a hint that cannot be a user's name is filled in")
		}
		if page := login(w.query("client_id", "https://client.example/id.json")); !strings.Contains(page, "<bdi>client.example</bdi></strong> asks you to log in") {
			t.Errorf("an address: %s", page)
		}
	})
}

// TestStrangersOnThisDevice: where no domain says whose an application is, the
// question is not asked in the name it has chosen.
func TestStrangersOnThisDevice(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newWorld(t, s, nil)
		for _, redirect := range []string{"http://127.0.0.1:1234/cb", "com.example.app:/cb"} {
			id := w.register(map[string]any{"client_name": "Bank", "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
			ask := w.query("client_id", id, "redirect_uri", redirect, "scope", "openid", "code_challenge", s256, "code_challenge_method", "S256")
			page := w.browser.get(ask).ok().text
			for _, want := range []string{"<h1>Let an application on this device use your account?</h1>", "calls itself <strong><bdi>Bank</bdi>", "Nobody here has checked it"} {
				if !strings.Contains(page, want) {
					t.Errorf("%s: no %q in %s", redirect, want, page)
				}
			}
		}
	})
}
