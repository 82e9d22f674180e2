package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"armature/core/auth/passkey"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
)

// eachShop is each with a site that knows where it is.
func eachShop(t *testing.T, test func(t *testing.T, s *sitetest.Server, c *clock)) {
	t.Helper()
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		configure(t, s, "host_name", `"`+shop+`"`)
		test(t, s, c)
	})
}

func TestPasskeyAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		if r := send(t, s, "GET", "/login", ""); strings.Contains(r.text, "<script") || strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src") {
			t.Error("a site without passkeys asks for one")
		}
		other, sid := loggedIn(t, s, jane), loggedIn(t, s, jane)
		d, made := registered(t, s, sid, "Laptop")
		if d.party != "shop.example.test" || len(codeShown.FindAllString(made.text, -1)) != 10 {
			t.Errorf("for %s: %s", d.party, made.text)
		}
		if who(t, s, sid) != jane || who(t, s, other) != "" {
			t.Error("the session that made the first factor goes on, and the other one ends")
		}
		shown := send(t, s, "GET", "/login", "")
		nonce := found(t, regexp.MustCompile(`<script src="/login/passkey\.js\?v=[0-9a-f]+" nonce="([^"]+)" defer></script>`), shown.text)
		if policy := shown.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; script-src 'nonce-"+nonce+"'") || strings.Count(shown.text, "<script") != 1 {
			t.Errorf("policy %q", policy)
		}
		if q, _ := question(t, shown); q.Verify != "required" || len(q.Allow) != 0 || q.RPID != "shop.example.test" {
			t.Errorf("the login page asks %+v", q)
		}
		if again := send(t, s, "GET", "/login", ""); strings.Contains(again.text, nonce) {
			t.Error("two pages have one nonce")
		}
		r := touched(t, s, d)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/app" || who(t, s, r.sid()) != jane {
			t.Fatalf("%d to %s: %s", r.StatusCode, r.Header.Get("Location"), r.text)
		}
		if r := passkeys(t, s, r.sid()); !strings.Contains(r.text, "Last used today") || !strings.Contains(r.text, "It stays on its device") {
			t.Error(r.text)
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Cookie", r.sid())
		if b, err := s.Tenant.Auth.Browser(t.Context(), req); err != nil || strings.Join(b.Methods, " ") != "hwk user mfa" {
			t.Errorf("amr %v, %v", b, err)
		}
		byProgram(t, s, d)
		// The password alone lets in no more, by no door.
		login(t, s, jane, right).fails(t, 401, "SecondFactorRequired")
		withCode(t, s, jane, "000000").fails(t, 401, "AuthenticationError")
		const keys = "/api/method/framework.core.doctype.user.user.generate_keys"
		s.User(t, "bob@example.com", "System Manager")
		setPassword(t, s, "bob@example.com", right)
		send(t, s, "POST", keys, "user="+jane, "Cookie", loggedIn(t, s, "bob@example.com"), "Content-Type", "application/x-www-form-urlencoded").fails(t, 403, "SecondFactorRequired")
		// A role and a site that demand a factor are content.
		configure(t, s, "require_second_factor", "true")
		if r := touched(t, s, d); who(t, s, r.sid()) != jane {
			t.Errorf("where a factor is demanded: %d %s", r.StatusCode, r.text)
		}
		configure(t, s, "disable_user_pass_login", "true")
		if r := touched(t, s, d); who(t, s, r.sid()) != jane {
			t.Errorf("where nobody logs in with a password: %d %s", r.StatusCode, r.text)
		}
	})
}

// byProgram logs in by the methods.
func byProgram(t *testing.T, s *sitetest.Server, d *device) {
	t.Helper()
	post := func(name string, args any, headers ...string) reply {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return send(t, s, "POST", "/api/method/framework.passkey."+name, string(text), append(headers, "Content-Type", "application/json")...)
	}
	options := post("login_options", map[string]any{})
	var asks struct {
		Message struct {
			Options  asked
			Question string
		}
	}
	if err := json.Unmarshal([]byte(options.text), &asks); err != nil {
		t.Fatal(err)
	}
	answer := func() map[string]string {
		return map[string]string{"question": asks.Message.Question, "passkey": d.get(t, asks.Message.Options)}
	}
	in := post("login", answer(), "Cookie", options.cookies())
	if in.StatusCode != 200 || who(t, s, in.sid()) != jane {
		t.Fatalf("%d %s", in.StatusCode, in.text)
	}
	post("login", answer(), "Cookie", options.cookies()).fails(t, 401, "AuthenticationError")
	post("login", map[string]string{}).fails(t, 417, "ValidationError")
	if list := post("list", map[string]any{}, "Cookie", in.sid()); list.StatusCode != 200 || !strings.Contains(list.text, `"title":"Laptop"`) {
		t.Errorf("%d %s", list.StatusCode, list.text)
	}
	for _, name := range []string{"list", "begin", "confirm", "rename", "remove"} {
		post(name, map[string]any{}, "Authorization", s.Admin.Authorization).fails(t, 403, "PermissionError")
	}
}

func TestPasskeyBesidePassword(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		d, made := registered(t, s, loggedIn(t, s, jane), "Key")
		code := codeShown.FindStringSubmatch(made.text)[1]
		waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
		enter := func(cookie string, form url.Values) reply {
			return send(t, s, "POST", "/login/code", form.Encode(), "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded")
		}
		q, token := question(t, send(t, s, "GET", "/login/code", "", "Cookie", waits))
		if len(q.Allow) != 1 || q.Verify == "required" {
			t.Errorf("it asks %+v", q)
		}
		d.flags = 0 // a key that knows no PIN
		answer := d.get(t, q)
		// The answer belongs to the login that asked.
		if r := enter(page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies(), url.Values{"question": {token}, "passkey": {answer}}); r.sid() != "" {
			t.Error("an answer is taken in another login")
		}
		r := enter(waits, url.Values{"question": {token}, "passkey": {answer}, "remember": {"1"}})
		if who(t, s, r.sid()) != jane {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		if r := enter(waits, url.Values{"question": {token}, "passkey": {answer}}); r.sid() != "" || r.StatusCode != 401 {
			t.Errorf("the answer once more: %d", r.StatusCode)
		}
		// It is remembered as any factor is.
		if again := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}, "Cookie", r.cookies()); who(t, s, again.sid()) != jane {
			t.Errorf("a browser that is remembered: %d", again.StatusCode)
		}
		// What is asked beside the password does not do in its place.
		alone, asks, cookie := asking(t, s)
		if r := answering(t, s, asks, cookie, d.get(t, alone)); r.sid() != "" {
			t.Error("a key whose owner nobody has checked lets in by itself")
		}
		if r := answering(t, s, token, cookie, answer); r.sid() != "" {
			t.Error("an answer beside the password lets in by itself")
		}
		if r := enter(page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies(), url.Values{"code": {code}}); who(t, s, r.sid()) != jane {
			t.Errorf("with a recovery code: %d %s", r.StatusCode, r.text)
		}
	})
}

// TestDemandedPasskey: who needs a factor and has none makes a passkey on the way in.
func TestDemandedPasskey(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		configure(t, s, "require_second_factor", "true")
		waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
		q, token := question(t, send(t, s, "GET", "/login/code", "", "Cookie", waits))
		d := newDevice()
		form := url.Values{"question": {token}, "passkey": {d.create(t, q)}, "title": {"Phone"}}
		enter := func(cookie string) reply {
			return send(t, s, "POST", "/login/code", form.Encode(), "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded")
		}
		if r := enter(page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()); r.sid() != "" {
			t.Error("a passkey of another login is taken")
		}
		in := enter(waits)
		if who(t, s, in.sid()) != jane || len(codeShown.FindAllString(in.text, -1)) != 10 {
			t.Fatalf("%d %s", in.StatusCode, in.text)
		}
		if r := enter(waits); r.sid() != "" {
			t.Error("made a second time")
		}
		if r := touched(t, s, d); who(t, s, r.sid()) != jane {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
	})
}

func TestPasskeyChanges(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		first, _ := registered(t, s, sid, " Lap\ntop ")
		second, r := registered(t, s, sid, "Blue key")
		if r.StatusCode != 303 || string(first.handle) != string(second.handle) {
			t.Errorf("the second one: %d", r.StatusCode)
		}
		shown := passkeys(t, s, sid)
		if !strings.Contains(shown.text, "<bdi>Lap top</bdi>") || !strings.Contains(shown.text, "<bdi>Blue key</bdi>") {
			t.Error(shown.text)
		}
		if q, _ := question(t, shown); len(q.Exclude) != 2 {
			t.Errorf("keys that there are may be made again: %+v", q)
		}
		name := func(d *device) string { return passkey.Name(d.id) }
		if r := change(t, s, sid, url.Values{"do": {"rename"}, "name": {name(first)}, "title": {"Old laptop"}}); r.StatusCode != 303 || !strings.Contains(passkeys(t, s, sid).text, "Old laptop") {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		// Nobody else has a hand in them.
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		bob := loggedIn(t, s, "bob@example.com")
		registered(t, s, bob, "Bob")
		for _, do := range []string{"rename", "remove"} {
			if r := change(t, s, bob, url.Values{"do": {do}, "name": {name(first)}, "title": {"Mine"}}); r.StatusCode != 404 {
				t.Errorf("%s the passkey of another: %d", do, r.StatusCode)
			}
		}
		// A login by the password and a remembered browser is not enough, nor is an old one.
		c.advance(11 * time.Minute)
		for _, do := range []string{"make", "remove"} {
			if r := change(t, s, sid, url.Values{"do": {do}, "name": {name(first)}}); r.Header.Get("Location") != "/login?redirect-to=%2Fapp%2Fpasskeys&switch=1&second-factor=1" {
				t.Errorf("%s in an old login: %d to %q", do, r.StatusCode, r.Header.Get("Location"))
			}
		}
		sid = touched(t, s, first).sid()
		if r := change(t, s, sid, url.Values{"do": {"remove"}, "name": {name(first)}}); r.StatusCode != 303 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := touched(t, s, first); r.sid() != "" || !strings.Contains(r.text, "not known here") {
			t.Errorf("a passkey that is removed: %d", r.StatusCode)
		}
		login(t, s, jane, right).fails(t, 401, "SecondFactorRequired")
		sid = touched(t, s, second).sid()
		if r := change(t, s, sid, url.Values{"do": {"remove"}, "name": {name(second)}}); r.StatusCode != 303 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if n := rowsOf(t, s, jane); n != 0 {
			t.Errorf("%d rows are left of the last factor", n)
		}
		if r := login(t, s, jane, right); r.StatusCode != 200 {
			t.Errorf("without a factor: %d %s", r.StatusCode, r.text)
		}
	})
}

// TestPasskeysAndApp: of two kinds of factors each is changed by who has shown one.
func TestPasskeysAndApp(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"simultaneous_sessions": 9}).OK(t)
		sid := loggedIn(t, s, jane)
		a, _ := enrolled(t, s, c, sid)
		r := withCode(t, s, jane, a.code(t))
		registered(t, s, r.sid(), "Key")
		// Somebody with the password and a remembered browser sets up nothing.
		waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
		in := send(t, s, "POST", "/login/code", url.Values{"code": {a.code(t)}, "remember": {"1"}}.Encode(), "Cookie", waits, "Content-Type", "application/x-www-form-urlencoded")
		known := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}, "Cookie", strings.Replace(in.cookies(), "sid=", "old=", 1)).sid()
		if who(t, s, known) != jane || strings.Contains(passkeys(t, s, known).text, "data-ask") {
			t.Error("a remembered browser may make passkeys")
		}
		if r := factorCall(t, s, in.sid(), "remove", map[string]string{"code": a.code(t)}); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		// The recovery codes stay as long as there is a factor, and an app is not set up
		// without showing it.
		login(t, s, jane, right).fails(t, 401, "SecondFactorRequired")
		if n := rowsOf(t, s, jane); n != 11 {
			t.Errorf("%d rows", n)
		}
		c.advance(time.Minute)
	})
}

func TestResetPasskeys(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		d, _ := registered(t, s, sid, "Key")
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		registered(t, s, loggedIn(t, s, "bob@example.com"), "Bob's")
		var had bool
		err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) (err error) {
			had, err = s.Tenant.Auth.ResetFactors(t.Context(), tx, identity.Root(), jane)
			return err
		})
		if err != nil || !had || who(t, s, sid) != "" || rowsOf(t, s, jane) != 0 {
			t.Errorf("%v, had %v", err, had)
		}
		if r := touched(t, s, d); r.sid() != "" {
			t.Error("a passkey that was reset lets in")
		}
		if r := login(t, s, jane, right); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if r := s.Admin.Delete("/api/resource/User/bob@example.com"); r.Status != 202 || rowsOf(t, s, "bob@example.com") != 0 {
			t.Errorf("%d, %d rows are left of a user who is gone", r.Status, rowsOf(t, s, "bob@example.com"))
		}
	})
}
