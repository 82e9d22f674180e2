package web_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
)

// configure sets a key of the site's configuration.
func configure(t *testing.T, s *sitetest.Server, key, value string) {
	t.Helper()
	config, err := s.Tenant.Site.Config().With(key, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	s.Tenant.Site.SetConfig(config)
}

// TestLockout is case 57 of the reference.
func TestLockout(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		configure(t, s, "allow_consecutive_login_attempts", "3")
		for range 4 {
			login(t, s, jane, "wrong").fails(t, 401, "AuthenticationError")
		}
		r := login(t, s, jane, right)
		r.fails(t, 429, "RateLimitExceededError")
		if r.Header.Get("Retry-After") != "60" || r.sid() != "" {
			t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
		}
		c.advance(59 * time.Second)
		login(t, s, jane, right).fails(t, 429, "RateLimitExceededError")
		c.advance(2 * time.Second)
		sid := loggedIn(t, s, jane)

		// A success takes the failures back, also those of the address.
		for range 3 {
			for range 3 {
				login(t, s, jane, "wrong").fails(t, 401, "AuthenticationError")
			}
			loggedIn(t, s, jane, "Cookie", sid)
		}
		// Those made as somebody else stay.
		for range 2 {
			login(t, s, "nobody@example.com", "wrong").fails(t, 401, "AuthenticationError")
			login(t, s, "no one", "wrong").fails(t, 401, "AuthenticationError")
			if r := login(t, s, jane, right); r.StatusCode != 200 && r.StatusCode != 429 {
				t.Errorf("%d %s", r.StatusCode, r.text)
			}
		}
		login(t, s, jane, right).fails(t, 429, "RateLimitExceededError")
	})
}

// TestLockoutInParallel: who guesses with many requests at once gets no more
// tries than with one after the other.
func TestLockoutInParallel(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		configure(t, s, "allow_consecutive_login_attempts", "3")
		var tried, locked atomic.Int32
		var wg sync.WaitGroup
		for range 24 {
			wg.Go(func() {
				switch r := login(t, s, "jane@example.com", "wrong"); r.StatusCode {
				case 401:
					tried.Add(1)
				case 429:
					locked.Add(1)
				default:
					t.Errorf("%d %s", r.StatusCode, r.text)
				}
			})
		}
		wg.Wait()
		if tried.Load() != 4 || locked.Load() != 20 {
			t.Errorf("%d tries, %d refused", tried.Load(), locked.Load())
		}
	})
}

// TestUpgrade: a hash made at another cost is replaced at the next login.
func TestUpgrade(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		// "correct horse battery" at 8 KiB and one pass.
		const cheap = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$COasZSyMm5hc6dqbItVb+IZaGwOa3IHiB0qT62pEreo"
		err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
			return s.Tenant.Auth.SetPassword(t.Context(), tx, identity.Root(), jane, cheap)
		})
		if err != nil {
			t.Fatal(err)
		}
		loggedIn(t, s, jane)
		loggedIn(t, s, jane)
		var hash string
		err = s.Tenant.Store.Read(t.Context(), func(tx document.Tx) error {
			schema := s.Tenant.Documents.Schema()
			doc, err := tx.Get(t.Context(), schema, schema.DocType("User"), jane, false)
			hash = doc.Text("password_hash")
			return err
		})
		if err != nil || hash == cheap || hash == "" {
			t.Errorf("%v: the hash is %q", err, hash)
		}
	})
}

func TestActivityLog(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		login(t, s, "jane@example.com", "wrong", "User-Agent", "thief/1")
		login(t, s, "my secret typed here", "wrong")
		sid := loggedIn(t, s, "jane@example.com", "User-Agent", "browser/1")
		send(t, s, "POST", "/api/method/logout", "", "Cookie", sid)
		s.Admin.Post("/api/method/framework.core.doctype.user.user.generate_keys", map[string]any{"user": "jane@example.com"}).OK(t)
		s.Admin.Put("/api/resource/User/jane@example.com", map[string]any{"bio": "x"}).OK(t)
		r := s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"*"},
			"filters", [][]any{{"operation", "in", []string{"Login", "Logout", "Keys", "Roles"}}}, "limit_page_length", "0")
		found := map[string]int{}
		for _, row := range r.List(t) {
			m := row.(map[string]any)
			if op := m["operation"]; op == "Keys" || op == "Roles" {
				found[op.(string)+" "+m["user"].(string)+" by "+m["owner"].(string)]++
				continue
			}
			if m["ip_address"] != "127.0.0.1" {
				t.Errorf("address %v", m["ip_address"])
			}
			agent := ""
			if a, _ := m["user_agent"].(string); a == "thief/1" || a == "browser/1" {
				agent = a
			}
			found[m["operation"].(string)+" "+m["status"].(string)+" "+m["user"].(string)+" "+agent]++
		}
		for _, want := range []string{"Login Failed jane@example.com thief/1", "Login Failed Guest ", "Login Success jane@example.com browser/1", "Logout Success jane@example.com ", "Roles jane@example.com by Administrator"} {
			if found[want] != 1 {
				t.Errorf("%q is missing in %v", want, found)
			}
		}
		if found["Keys jane@example.com by Administrator"] != 2 { // the fixture makes one
			t.Errorf("keys: %v", found)
		}
		s.As(t, "jane@example.com").Put("/api/resource/Activity%20Log/"+r.List(t)[0].(map[string]any)["name"].(string), map[string]any{"user": "x"}).Fails(t, 403, "PermissionError")
	})
}
