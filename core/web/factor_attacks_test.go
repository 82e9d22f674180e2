package web_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/sites/sitetest"
)

// TestWaitingLogin: what waits for its code is worth nothing once the password has
// changed, or after ten minutes, or in somebody else's words.
func TestWaitingLogin(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		a, _ := enrolled(t, s, c, loggedIn(t, s, jane))
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		waits := func() string { return page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies() }
		enter := func(cookie string) reply {
			t.Helper()
			return send(t, s, "POST", "/login/code", url.Values{"code": {a.code(t)}}.Encode(), append(form, "Cookie", cookie)...)
		}
		changed, late := waits(), waits()
		setPassword(t, s, jane, "another "+right)
		if r := enter(changed); r.sid() != "" {
			t.Error("a code is taken after the password has changed")
		}
		setPassword(t, s, jane, right)
		if r := enter(waits()); r.sid() == "" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		c.advance(11 * time.Minute)
		if r := enter(late); r.sid() != "" || r.Header.Get("Location") != "/login?waited=1" {
			t.Errorf("after eleven minutes: %d to %s", r.StatusCode, r.Header.Get("Location"))
		}
		for _, forged := range []string{"", "login=", "login=v1.AAAA", waits() + "; login=x", strings.TrimSuffix(waits(), "A") + "B"} {
			if r := enter(forged); r.sid() != "" || r.StatusCode != 303 {
				t.Errorf("%q: %d", forged, r.StatusCode)
			}
		}
		r := send(t, s, "POST", "/login/code", url.Values{"code": {a.code(t)}}.Encode(), append(form, "Cookie", waits(), "Origin", "https://evil.example")...)
		if r.StatusCode != 400 || r.sid() != "" {
			t.Errorf("from a page of another site: %d", r.StatusCode)
		}
		// A disabled user is not let in by the code.
		blocked := waits()
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 0}).OK(t)
		if r := enter(blocked); r.sid() != "" {
			t.Error("a disabled user is in")
		}
	})
}

// TestWrongCodes: of tries that come at once no more are looked at than of those in
// turn, right ones after them are refused, and recovery codes go on working.
func TestWrongCodes(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		a, codes := enrolled(t, s, c, loggedIn(t, s, jane))
		waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
		enter := func(code string) int {
			r := send(t, s, "POST", "/login/code", url.Values{"code": {code}}.Encode(), "Cookie", waits, "Content-Type", "application/x-www-form-urlencoded")
			return r.StatusCode
		}
		var mu sync.Mutex
		got := map[int]int{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 4 {
					status := enter("000000")
					mu.Lock()
					got[status]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if got[401] != 20 || got[429] != 12 {
			t.Errorf("of 32 wrong codes: %v", got)
		}
		if status := enter(a.code(t)); status != 429 {
			t.Errorf("a right code after them: %d", status)
		}
		withCode(t, s, jane, a.code(t)).fails(t, 429, "RateLimitExceededError")
		if status := enter(codes[0]); status != 303 {
			t.Errorf("a recovery code: %d", status)
		}
		c.advance(25 * time.Hour)
		if r := withCode(t, s, jane, a.code(t)); r.StatusCode != 200 {
			t.Errorf("a day later: %d", r.StatusCode)
		}
	})
}

// TestWaysAroundTheFactor: neither another password nor keys made by somebody else let
// in who has not the factor, and what is kept of one goes with its user.
func TestWaysAroundTheFactor(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		a, _ := enrolled(t, s, c, sid)
		reset, err := s.Tenant.Auth.NewReset(t.Context(), jane, auth.Remote{})
		if err != nil {
			t.Fatal(err)
		}
		r := update(t, s, url.Values{"key": {reset.Key}, "new_password": {right}})
		if r.StatusCode != 200 || r.sid() != "" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		login(t, s, jane, right).fails(t, 401, "SecondFactorRequired")

		const keys = "/api/method/framework.core.doctype.user.user.generate_keys"
		s.User(t, "bob@example.com", "System Manager")
		setPassword(t, s, "bob@example.com", right)
		bob := loggedIn(t, s, "bob@example.com")
		for _, header := range [][]string{{"Cookie", bob}, {"Authorization", s.Admin.Authorization}} {
			send(t, s, "POST", keys, "user="+jane, append(header, "Content-Type", "application/x-www-form-urlencoded")...).fails(t, 403, "SecondFactorRequired")
		}
		own := withCode(t, s, jane, a.code(t)).sid()
		if r := send(t, s, "POST", keys, "user="+jane, "Cookie", own, "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 200 {
			t.Errorf("by who has shown the factor: %d %s", r.StatusCode, r.text)
		}

		if n := rowsOf(t, s, jane); n != 11 {
			t.Errorf("%d rows", n)
		}
		if r := s.Admin.Delete("/api/resource/User/" + jane); r.Status != 202 {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		if n := rowsOf(t, s, jane); n != 0 {
			t.Errorf("%d rows are left of a user who is gone", n)
		}
	})
}

// rowsOf counts what the tables beside the schema have of a user.
func rowsOf(t *testing.T, s *sitetest.Server, user string) (n int) {
	t.Helper()
	for _, dt := range auth.Tables() {
		if dt.Field("user") == nil {
			continue
		}
		sel := &doctype.Select{DocType: dt, Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("user")}, Key: "user"}}}
		if dt.Field("secret") != nil {
			sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: dt.Field("secret")}, Key: "secret"})
		}
		err := s.Tenant.Store.Read(t.Context(), func(tx document.Tx) error {
			return tx.Rows(t.Context(), sel, func(v []any) error {
				if v[0] == user {
					n++
				}
				if len(v) > 1 && !strings.HasPrefix(v[1].(string), "v1.") {
					t.Errorf("the secret is kept as %v", v[1])
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}
