package oauth_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestAudit: what is let in, refused and ended, and what an administrator changes,
// has one entry each in the Activity Log that says about whom, by whom and from where.
func TestAudit(t *testing.T) {
	each(t, map[string]any{"skip_authorization": 0}, func(t *testing.T, w *world) {
		w.settings(map[string]any{"refresh_token_grace": 0})
		w.someone("u@example.com")
		w.browser = w.login("u@example.com", password)
		seen, begun := map[string]bool{}, false // what has made the world came by no request
		look := func() (all []string) {
			for _, row := range w.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"*"}, "order_by", "creation asc", "limit", "0").List(t) {
				m := row.(map[string]any)
				if name := m["name"].(string); !seen[name] {
					seen[name] = true
					all = append(all, fmt.Sprint(m["operation"], " ", m["status"], " of ", m["user"], " by ", m["owner"], " through ", m["client"], ": ", m["subject"]))
					if begun && (m["ip_address"] != "127.0.0.1" || m["user_agent"] == "") {
						t.Errorf("nobody knows from where: %v", m)
					}
					if strings.Contains(m["subject"].(string), w.secret) {
						t.Errorf("a secret in %v", m)
					}
				}
			}
			return all
		}
		look()
		begun = true
		expect := func(what string, want ...string) {
			t.Helper()
			got := look()
			if len(got) != len(want) {
				t.Errorf("%s: %q", what, got)
				return
			}
			for i := range want {
				if want[i] = strings.ReplaceAll(want[i], "ID", w.id); got[i] != want[i] {
					t.Errorf("%s: %q, want %q", what, got[i], want[i])
				}
			}
		}
		allowed := "Consent Success of u@example.com by u@example.com through ID: Test was let in: all openid"
		tokens := func() (access, refresh string) {
			t.Helper()
			code := w.browser.decide(w.browser.get(w.query()).consent(), "allow").redirected(callback).Get("code")
			a := w.redeem(code).ok()
			expect("allow", allowed)
			return a.str("access_token"), a.str("refresh_token")
		}
		w.browser.decide(w.browser.get(w.query()).consent(), "deny").redirected(callback)
		expect("deny", "Consent Failed of u@example.com by u@example.com through ID: Test was not let in")

		access, _ := tokens()
		w.send("revoke_token", url.Values{"token": {access}}, nil).ok()
		expect("revoke", "Revocation Success of u@example.com by Guest through ID: Token revoked, all access ended: Test")
		w.send("revoke_token", url.Values{"token": {access}}, nil).ok()
		expect("revoke again")

		_, refresh := tokens()
		w.refresh(refresh).ok()
		for range 2 {
			w.refresh(refresh).is(400, "invalid_grant")
		}
		expect("reuse", "Reuse Failed of u@example.com by Guest through ID: A code or refresh token was used again, all access ended: Test")

		tokens()
		grants := w.Admin.Get("/api/resource/OAuth%20Grant", "filters", [][]any{{"status", "=", "Active"}}).List(t)
		w.Admin.Delete("/api/resource/OAuth%20Grant/" + grants[0].(map[string]any)["name"].(string))
		expect("grant", "Grant Success of u@example.com by Administrator through ID: Access ended: Test")

		tokens()
		w.Admin.Put("/api/resource/User/u@example.com", map[string]any{"enabled": 0}).OK(t)
		got := strings.Join(look(), "\n")
		if !strings.Contains(got, "Grant Success of u@example.com by Administrator through : Access of all applications ended: 1") || !strings.Contains(got, "was disabled") {
			t.Errorf("disabled: %s", got)
		}

		admin := " Success of Administrator by Administrator through "
		w.Admin.Post(prefix+"rotate_client_secret", map[string]any{"client_id": w.id}).OK(t)
		expect("rotate", "OAuth Client"+admin+"ID: Another secret was made for Test")
		w.Admin.Put("/api/resource/OAuth%20Client/"+w.id, map[string]any{"scopes": "openid", "skip_authorization": 1}).OK(t)
		expect("client", "OAuth Client"+admin+"ID: OAuth Client Test was changed: skip_authorization, scopes")
		w.settings(map[string]any{"refresh_token_grace": 7})
		expect("settings", "OAuth Settings"+admin+": OAuth Settings was changed: refresh_token_grace")
		own := w.registerWith(map[string]any{"redirect_uris": []string{callback}, "client_name": "Stranger"}).str("client_id")
		expect("registration", "OAuth Client Success of Guest by Guest through "+own+": An application registered itself: Stranger")
		w.Admin.Delete("/api/resource/OAuth%20Client/" + w.id)
		expect("delete", "OAuth Client"+admin+"ID: OAuth Client Test was deleted")
	})
}
