package web_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

func TestPasskeyAttacks(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		d, _ := registered(t, s, loggedIn(t, s, jane), "Key")
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		bob, _ := registered(t, s, loggedIn(t, s, "bob@example.com"), "Bob")

		q, token, cookie := asking(t, s)
		answer := d.get(t, q)
		refuses := func(what string, r reply) {
			t.Helper()
			if r.sid() != "" || r.StatusCode < 400 || r.StatusCode > 499 {
				t.Errorf("%s: %d %q", what, r.StatusCode, r.sid())
			}
		}
		_, elsewhere, theirs := asking(t, s)
		refuses("the question of another browser", answering(t, s, token, theirs, answer))
		refuses("another question", answering(t, s, elsewhere, theirs, answer))
		refuses("no cookie", answering(t, s, token, "", answer))
		refuses("a page of another site", answering(t, s, token, cookie, answer, "Origin", "https://evil.example"))
		for _, page := range []string{"https://evil.example", "https://evil.shop.example.test.evil.example", "http://shop.example.test", "https://evil.example.test", "https://a.shop.example.test", "https://shop.example.test:8443", "null", ""} {
			d.origin = page
			refuses("a signature for "+page, answering(t, s, token, cookie, d.get(t, q)))
		}
		d.origin = shop
		for _, party := range []string{"example.test", "evil.example"} {
			d.party = party
			refuses("a signature for the party "+party, answering(t, s, token, cookie, d.get(t, q)))
		}
		d.party = "shop.example.test"
		d.handle = bob.handle
		refuses("the handle of another user", answering(t, s, token, cookie, d.get(t, q)))
		d.handle = nil
		refuses("no handle", answering(t, s, token, cookie, d.get(t, q)))
		d.handle = []byte("x")
		id := d.id
		d.id = bob.id
		refuses("the credential of another user", answering(t, s, token, cookie, d.get(t, q)))
		d.id = id
		made := newDevice()
		made.create(t, asked{Challenge: q.Challenge})
		made.party = d.party
		refuses("a key that nobody has registered", answering(t, s, token, cookie, made.get(t, q)))
		for _, text := range []string{"{}", "null", "[]", "x", `{"id":"","rawId":"","type":"public-key","response":{}}`, strings.Repeat("[", 30000), answer[:len(answer)-20]} {
			refuses("an answer "+text[:min(len(text), 20)], answering(t, s, token, cookie, text))
		}
		refuses("a forged question", answering(t, s, "v1.AAAA", cookie, answer))

		// What was refused has spent nothing; of forty who answer at once one is in, and
		// nobody after.
		d.handle = handleOf(t, answer)
		answer = d.get(t, q)
		var mu sync.Mutex
		var in []string
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					if sid := answering(t, s, token, cookie, answer).sid(); sid != "" {
						mu.Lock()
						in = append(in, sid)
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		if len(in) != 1 || who(t, s, in[0]) != jane {
			t.Errorf("%d answers of one are taken", len(in))
		}
		refuses("the answer once more", answering(t, s, token, cookie, answer))
		refuses("a new answer to a spent question", answering(t, s, token, cookie, d.get(t, q)))

		q, token, cookie = asking(t, s)
		c.advance(11 * time.Minute)
		refuses("eleven minutes later", answering(t, s, token, cookie, d.get(t, q)))
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 0}).OK(t)
		refuses("a disabled user", touched(t, s, d))
	})
}

// handleOf is the handle in an answer.
func handleOf(t *testing.T, answer string) []byte {
	t.Helper()
	_, rest, _ := strings.Cut(answer, `"userHandle":"`)
	text, _, _ := strings.Cut(rest, `"`)
	handle, err := b64.DecodeString(text)
	if err != nil || len(handle) == 0 {
		t.Fatal(err, answer)
	}
	return handle
}

// TestPasskeyEnrolmentAttacks: a passkey is made by the session that asked for it, for a
// page of the site, and once.
func TestPasskeyEnrolmentAttacks(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		sid, bob := loggedIn(t, s, jane), loggedIn(t, s, "bob@example.com")
		q, token := question(t, passkeys(t, s, sid))
		d := newDevice()
		makes := func(sid, answer string) reply {
			t.Helper()
			return change(t, s, sid, url.Values{"do": {"make"}, "question": {token}, "passkey": {answer}, "title": {"x"}})
		}
		answer := d.create(t, q)
		if r := makes(bob, answer); r.StatusCode != 417 {
			t.Errorf("the challenge of another session: %d", r.StatusCode)
		}
		if r := makes(loggedIn(t, s, jane), answer); r.StatusCode != 417 {
			t.Errorf("the challenge of another session of the same user: %d", r.StatusCode)
		}
		sibling := newDevice()
		sibling.origin = "https://evil.example.test"
		if r := makes(sid, sibling.create(t, q)); r.StatusCode != 417 {
			t.Errorf("made at a sibling of the site: %d", r.StatusCode)
		}
		if r := send(t, s, "POST", "/app/passkeys", url.Values{"do": {"make"}, "question": {token}, "passkey": {answer}}.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 400 {
			t.Errorf("without the token of the session: %d", r.StatusCode)
		}
		if r := send(t, s, "POST", "/app/passkeys", "do=make", "Authorization", s.As(t, jane).Authorization, "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 403 {
			t.Errorf("with a key of the API: %d", r.StatusCode)
		}
		if r := makes(sid, answer); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		if r := makes(sid, answer); r.StatusCode != 417 {
			t.Errorf("once more: %d", r.StatusCode)
		}
		// The id of a passkey is one user's.
		stolen := newDevice()
		asks, theirs := question(t, passkeys(t, s, bob))
		if r := change(t, s, bob, url.Values{"do": {"make"}, "question": {theirs}, "passkey": {stolen.createAs(t, asks, d.id)}, "title": {"x"}}); r.StatusCode != 417 {
			t.Errorf("the id of another's passkey: %d %s", r.StatusCode, r.text)
		}
		if r := touched(t, s, d); who(t, s, r.sid()) != jane {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		shown := passkeys(t, s, bob)
		late, token := question(t, shown)
		c.advance(11 * time.Minute)
		form := url.Values{"do": {"make"}, "question": {token}, "passkey": {newDevice().create(t, late)}, "csrf_token": {found(t, csrfField, shown.text)}}
		if r := send(t, s, "POST", "/app/passkeys", form.Encode(), "Cookie", bob, "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 303 || !strings.HasPrefix(r.Header.Get("Location"), "/login?") {
			t.Errorf("eleven minutes later: %d", r.StatusCode)
		}
	})
}

// TestCopiedPasskey: a counter that goes back takes the passkey out of use, for whoever
// has it.
func TestCopiedPasskey(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		d, _ := registered(t, s, loggedIn(t, s, jane), "Key")
		touched(t, s, d)
		touched(t, s, d)
		twin := *d
		twin.counter = 1
		if r := touched(t, s, &twin); r.sid() != "" || !strings.Contains(r.text, "may have been copied") {
			t.Errorf("a copy: %d %s", r.StatusCode, r.text)
		}
		if r := touched(t, s, d); r.sid() != "" {
			t.Error("nobody knows which of them is the owner's")
		}
		log := s.Admin.Get("/api/resource/Activity Log", "filters", `[["operation","=","Second Factor"],["status","=","Failed"]]`, "fields", `["subject"]`).Column(t, "subject")
		if len(log) != 1 || log[0] != "Second factor: the passkey Key of "+jane+" may have been copied and is blocked" {
			t.Errorf("the log has %v", log)
		}
	})
}

// TestPasskeyDomain: where the site is, and to what its passkeys are bound.
func TestPasskeyDomain(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		// Who makes a request chooses its host.
		r := send(t, s, "GET", "/app/passkeys", "", "Cookie", sid, "Host", "evil.example")
		if strings.Contains(r.text, "data-ask") || !strings.Contains(r.text, "host_name") {
			t.Error("the host of a request is taken for that of the site")
		}
		if q, _ := question(t, send(t, s, "GET", "/app/passkeys", "", "Cookie", sid, "Host", "localhost:8000")); q.RP.ID != "localhost" {
			t.Errorf("on this device: %q", q.RP.ID)
		}
		configure(t, s, "host_name", `"https://shop.example.test"`)
		d, _ := registered(t, s, sid, "Key")
		lost := func(want int) {
			t.Helper()
			all, err := s.Tenant.Auth.LostPasskeys(t.Context())
			n := 0
			for _, l := range all {
				n += l.Count
			}
			if err != nil || n != want {
				t.Errorf("%d are lost, %v", n, err)
			}
		}
		lost(0)
		// A site that moves below itself keeps its keys.
		configure(t, s, "host_name", `"https://www.shop.example.test"`)
		d.origin = "https://www.shop.example.test"
		if r := touched(t, s, d); who(t, s, r.sid()) != jane {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		lost(0)
		d.origin = shop
		if r := touched(t, s, d); r.sid() != "" {
			t.Error("the place where the site was may still ask")
		}
		// One that moves away keeps them for its return, and says so.
		configure(t, s, "host_name", `"https://other.example"`)
		q, _, _ := asking(t, s)
		if q.RPID != "other.example" {
			t.Errorf("asks for %q", q.RPID)
		}
		if r := touched(t, s, d); r.sid() != "" {
			t.Error("a passkey of another domain is taken")
		}
		login(t, s, jane, right).fails(t, 401, "SecondFactorRequired")
		lost(1)
		configure(t, s, "host_name", `"https://shop.example.test"`)
		lost(0)
		configure(t, s, "passkey_domain", `"example.test"`)
		lost(1)
		if q, _, _ := asking(t, s); q.RPID != "example.test" {
			t.Errorf("asks for %q", q.RPID)
		}
		for _, wrong := range []string{`"com"`, `"co.uk"`, `"127.0.0.1"`, `"Example.org"`, `"https://a.example"`, `"a.example:8443"`, `"a b"`, `""`, `1`} {
			if _, err := s.Tenant.Site.Config().With("passkey_domain", []byte(wrong)); err == nil {
				t.Errorf("passkey_domain %s is taken", wrong)
			}
		}
	})
}
