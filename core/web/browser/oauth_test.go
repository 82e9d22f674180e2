package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	authorizePath = "/api/method/framework.integrations.oauth2.authorize"
	tokenPath     = "/api/method/framework.integrations.oauth2.get_token"
)

// app is an application that users let in: a program on the same machine, which
// waits for the answer at a loopback address.
type app struct {
	s        *server
	id       string
	secret   string
	redirect string
}

// app registers an application as the Administrator does.
func (s *server) app(name, scopes string) *app {
	s.t.Helper()
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><title>App</title><p>Back at the application.`)
	}))
	s.t.Cleanup(listener.Close)
	a := &app{s: s, redirect: listener.URL + "/callback?own=1"}
	made := s.api("POST", "/api/resource/OAuth%20Client", map[string]any{
		"app_name": name, "scopes": scopes, "redirect_uris": a.redirect, "default_redirect_uri": a.redirect,
	}).(map[string]any)
	a.id, _ = made["client_id"].(string)
	a.secret, _ = made["client_secret"].(string)
	if a.id == "" || a.secret == "" {
		s.t.Fatalf("no client: %v", made)
	}
	return a
}

// ask is the address an application sends its user to. Pairs change parameters.
func (a *app) ask(scope string, pairs ...string) string {
	q := url.Values{"client_id": {a.id}, "response_type": {"code"}, "redirect_uri": {a.redirect}, "scope": {scope}, "state": {`s "&<` + strings.Repeat("long", 600)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return authorizePath + "?" + q.Encode()
}

// answer is what the browser brought the application.
func (a *app) answer(b *tab) url.Values {
	b.t.Helper()
	u, err := url.Parse(b.at())
	if err != nil || !strings.HasPrefix(b.at(), a.redirect) {
		b.t.Fatalf("not at the application but at %s:\n%s", b.at(), b.text())
	}
	q := u.Query()
	if q.Get("own") != "1" || !strings.HasPrefix(q.Get("state"), `s "&<long`) || len(q.Get("state")) < 2400 {
		b.t.Errorf("the answer lost something: %v", q)
	}
	return q
}

// tokens redeems a code, and returns whose it was.
func (a *app) tokens(code string) (access, user string) {
	a.s.t.Helper()
	res, err := http.PostForm(a.s.origin+tokenPath, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.redirect}, "client_id": {a.id}, "client_secret": {a.secret},
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != 200 {
		a.s.t.Fatalf("%d %v %v", res.StatusCode, err, answer)
	}
	access, _ = answer["access_token"].(string)
	return access, a.whose(access)
}

// whose is the user a token acts for; empty when it acts for nobody.
func (a *app) whose(access string) string {
	a.s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, a.s.origin+"/api/method/framework.auth.get_logged_user", nil)
	if err != nil {
		a.s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+access)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.s.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Message string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		a.s.t.Fatal(err)
	}
	if res.StatusCode != 200 {
		return ""
	}
	return answer.Message
}

// TestConsent is the whole flow: login, consent, code; and no; and the end of
// what was allowed.
func TestConsent(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	a := s.app(`Acme "Sync" & Co`, "openid all resource:ToDo:read resource:Note:write method:acme.*")
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			b.open(a.ask("openid resource:ToDo:read resource:Note:write method:acme.*"))
			if !strings.HasPrefix(b.at(), "/login?redirect-to=") {
				t.Fatalf("a guest is at %s", b.at())
			}
			b.fill("#usr", "jane@example.com")
			b.fill("#pwd", password)
			b.click("button")
			b.shows(`Acme "Sync" & Co`, "Jane Doe", "jane@example.com", "your name, e-mail address",
				"Read documents of the type ToDo", "Read, create, change and delete documents of the type Note",
				"begin with acme.", strings.TrimPrefix(strings.TrimSuffix(a.redirect, "/callback?own=1"), "http://"), "a program on this device")
			b.inspect("consent " + l.name)
			b.click("button[value=allow]")
			if _, user := a.tokens(a.answer(b).Get("code")); user != "jane@example.com" {
				t.Errorf("the code is for %q", user)
			}

			b.open(a.ask("all"))
			b.shows("Do everything that you can do here")
			b.inspect("consent all " + l.name)
			b.click("button[value=deny]")
			if q := a.answer(b); q.Get("error") != "access_denied" || q.Has("code") {
				t.Errorf("the answer to no: %v", q)
			}
		})
	}
}

// TestConsentOfAStranger: an application that registered itself, with names as long
// as they may be, is told apart from one that somebody has checked.
func TestConsentOfAStranger(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe-with-a-name-that-is-not-short-at-all-and-goes-on-and-on", "System Manager")
	const redirect = "https://accounts.google.com.signin.oauth.consent.a-rather-long-name-that-nobody-reads-to-its-end.evil.example/cb"
	body, err := json.Marshal(map[string]any{
		"client_name": "Sync" + strings.Repeat("W", 130), "redirect_uris": []string{redirect}, "scope": "openid all resource:ToDo:read",
		"policy_uri": "https://evil.example/privacy", "tos_uri": "https://evil.example/terms",
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(s.origin+"/api/method/framework.integrations.oauth2.register_client", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a := &app{s: s, redirect: redirect}
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	a.id = made.ID
	b := newTab(t, s, looks[1])
	b.open(a.ask("openid all resource:ToDo:read", "login_hint", "jane@example.com"))
	b.shows("An application of evil.example asks you to log in", "Nobody here has checked it")
	if user, f := b.value("#usr"), b.focused(); user != "jane@example.com" || f != "pwd" {
		t.Errorf("the user is %q and the focus on %q", user, f)
	}
	b.inspect("login of a stranger")
	b.fill("#pwd", password)
	b.click("button")
	b.shows("Let evil.example use your account?", "Nobody here has checked it", "Do everything that you can do here", "Its privacy policy", "Its terms")
	if text := b.text(); strings.Contains(text, "ToDo") {
		t.Errorf("narrower scopes are listed beside all: %s", text)
	}
	b.inspect("consent of a stranger")
	background := func(selector string) string {
		t.Helper()
		return run(b, chromedp.Evaluate[string](fmt.Sprintf("getComputedStyle(document.querySelector(%q)).backgroundColor", selector)))
	}
	if allow, deny := background("button[value=allow]"), background("button[value=deny]"); allow != deny && allow != "rgba(0, 0, 0, 0)" {
		t.Errorf("Allow is the primary button: %s beside %s", allow, deny)
	}
}

// TestConsentByKeyboard: nothing is pressed by what was typed before, and the way
// to both buttons is short.
func TestConsentByKeyboard(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	a := s.app("Acme", "openid all")
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.open(a.ask("openid"))
	b.press(kb.Enter)
	var order []string
	for range 3 {
		b.press(kb.Tab)
		order = append(order, b.focused())
	}
	if got := strings.Join(order, ", "); got != "Use another account, allow, deny" {
		t.Fatalf("Tab leads to %s", got)
	}
	b.inspect("consent by keyboard")
	b.loads(chromedp.KeyEvent(kb.Enter))
	if q := a.answer(b); q.Get("error") != "access_denied" {
		t.Errorf("%v", q)
	}
	b.open(a.ask("openid"))
	b.press(kb.Tab + kb.Tab)
	b.loads(chromedp.KeyEvent(" "))
	if q := a.answer(b); q.Get("code") == "" {
		t.Errorf("%v", q)
	}
}

// TestConsentAsSomebodyElse: who is asked can be somebody else, and is asked the
// same then.
func TestConsentAsSomebodyElse(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	s.user("rob@example.com", "Rob", "Roe", "System Manager")
	a := s.app("Acme", "openid all")
	b := newTab(t, s, looks[1])
	b.login("jane@example.com")
	b.open(a.ask("openid"))
	b.shows("Jane Doe")
	janes := b.value("input[name=proof]")

	b.click(".who a")
	b.shows("You are logged in as Jane Doe")
	b.fill("#usr", "rob@example.com")
	b.fill("#pwd", password)
	b.click("button")
	b.shows("Rob Roe")
	b.inspect("consent switched")

	// A page that was shown to Jane is no answer of Rob's.
	run(b, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("input[name=proof]").value = %q`, janes)))
	if r := b.click("button[value=allow]"); r.Status != 403 {
		t.Errorf("the page shown to Jane, answered as Rob: %d at %s", r.Status, b.at())
	}
	b.inspect("consent of another session")
	b.open(a.ask("openid"))
	b.click("button[value=allow]")
	if _, user := a.tokens(a.answer(b).Get("code")); user != "rob@example.com" {
		t.Errorf("the code is for %q", user)
	}
}

func TestAuthorizedApps(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe")
	s.user("boss@example.com", "Ann", "Boss", "System Manager")
	s.api("PUT", "/api/resource/User/jane@example.com", map[string]any{"roles": []any{map[string]any{"role": "Desk User"}}})
	acme := s.app("Acme", "openid all")
	other := s.app("Another application with a name that is rather long for a phone", "resource:*:read resource:ToDo:write openid")
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			b := newTab(t, s, l)
			b.login("jane@example.com")
			b.click("a[href='/app/authorized-apps']")
			b.shows("No application may act for you.")
			b.inspect("apps none " + l.name)
			allow := func(a *app, scope string) string {
				t.Helper()
				b.open(a.ask(scope))
				b.click("button[value=allow]")
				access, _ := a.tokens(a.answer(b).Get("code"))
				return access
			}
			first, again, kept := allow(acme, "all"), allow(acme, "openid"), allow(other, "resource:*:read resource:ToDo:write")
			b.open("/app/authorized-apps")
			b.shows("Acme", "Do everything", "Another application", "Let in today at", "Last used today at")
			b.inspect("apps " + l.name)
			b.click("button[aria-label='End access of Acme']")
			b.shows("It has no access any more.")
			if text := b.text(); strings.Contains(text, "Acme") || !strings.Contains(text, "Another") {
				t.Errorf("left: %s", text)
			}
			if a, b, c := acme.whose(first), acme.whose(again), other.whose(kept); a != "" || b != "" || c != "jane@example.com" {
				t.Errorf("ended %q %q, kept %q", a, b, c)
			}

			admin := newTab(t, s, l)
			admin.login("boss@example.com")
			admin.open("/app/authorized-apps")
			admin.inspect("apps of an administrator " + l.name)
			admin.fill("#client", other.id)
			admin.click("button")
			admin.shows("Who has let Another application", "jane@example.com")
			admin.inspect("apps of a client " + l.name)
			admin.click("button")
			admin.shows("Nobody has let this application in.")
			if who := other.whose(kept); who != "" {
				t.Errorf("still %s", who)
			}
			if r := b.open("/app/authorized-apps?client=" + other.id); r.Status != 403 {
				t.Errorf("jane sees the administrator's page: %d", r.Status)
			}
		})
	}
}

// TestAuthorizationRefused: what cannot be told to the application is told to the
// person, and leads nowhere.
func TestAuthorizationRefused(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	a := s.app("Acme", "openid all")
	b := newTab(t, s, looks[1])
	b.login("jane@example.com")
	if r := b.open(a.ask("openid", "redirect_uri", "http://evil.example/<script>")); r.Status != 400 {
		t.Errorf("status %d", r.Status)
	}
	b.shows("The application could not be let in", "Nothing was allowed")
	b.inspect("authorization refused")
	if r := b.open(a.ask("openid", "client_id", "nobody")); r.Status != 400 && r.Status != 401 {
		t.Errorf("status %d", r.Status)
	}
	b.shows("The application could not be let in")
}

// TestConsentIsNotFramed: no page of another site shows the consent page inside
// its own and has the user press what is not seen.
func TestConsentIsNotFramed(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	a := s.app("Acme", "openid all")
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	// On the same site, so that the cookies go along: what keeps the page out is
	// its own refusal.
	frames := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><iframe src="%s"></iframe>`, strings.ReplaceAll(s.origin+a.ask("openid"), "&", "&amp;"))
	}))
	defer frames.Close()
	var framed *network.EventResponseReceived
	if err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*network.EventResponseReceived); ok && strings.Contains(e.Response.URL, authorizePath) {
			framed = e
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.open(frames.URL)
	b.expect("frame-ancestors 'none'")
	if framed == nil || framed.Response.Status != 200 {
		t.Errorf("the frame did not ask for the consent page: %+v", framed)
	}
}
