package main_test

import (
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestConnectedServers has one server log its users in at another: both ends of
// OAuth are ours, and a plugin asks the other server in the user's name.
func TestConnectedServers(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		away := armaturetest.New(t) // the provider
		provider := away.Serve()
		provider.Auth = away.Keys("Administrator")
		provider.Want("POST", "/api/resource/User", map[string]any{
			"email": "ada@away.example", "first_name": "Ada", "last_name": "Lovelace", "new_password": "a long enough pass phrase",
		})

		// The README of the plugin is what happens here.
		w := in.Walk("PROVIDER=" + provider.URL)
		w.Follow("profile", "Install")
		host := strings.TrimPrefix(provider.URL, "http://")
		in.Run("site", "config", "default", "set", "allowed_private_hosts", `["`+host+`"]`)
		w.Start()
		s := w.Server
		s.Want("POST", "/api/resource/User", map[string]any{"email": "ada@home.example", "first_name": "Ada"})
		app := s.Want("POST", "/api/resource/Connected App", map[string]any{
			"provider_name": "Away", "openid_configuration": provider.URL + "/.well-known/openid-configuration",
			"scopes": []any{map[string]any{"scope": "openid"}}, "allowed_hosts": host,
		}).(map[string]any)
		client := provider.Want("POST", "/api/resource/OAuth Client", map[string]any{
			"app_name": "Home", "redirect_uris": app["redirect_uri"], "scopes": "openid", "skip_authorization": 1,
		}).(map[string]any)
		name := app["name"].(string)
		s.Want("PUT", "/api/resource/Connected App/"+name, map[string]any{
			"client_id": client["client_id"], "client_secret": client["client_secret"],
		})
		if _, err := w.Enter("APP=" + name); err != nil {
			t.Fatal(err)
		}
		w.Follow("profile", "A user who has not connected yet")

		ada := strings.TrimPrefix(w.Variable("ADA"), "Authorization: ")
		show := func() map[string]any {
			t.Helper()
			status, answer := s.CallAs(ada, "GET", "/api/method/acme.profile.show?app="+name, nil)
			message, _ := answer["message"].(map[string]any)
			if status != http.StatusOK {
				return map[string]any{"status": status, "answer": answer}
			}
			return message
		}

		// The user's browser: logged in at both ends, sent from the one to the
		// other and back.
		connect := func() {
			t.Helper()
			status, begun := s.CallAs(ada, "POST", "/api/resource/Connected App/"+name, map[string]any{"run_method": "initiate_web_application_flow"})
			address, _ := begun["data"].(string)
			if status != http.StatusOK || address == "" {
				t.Fatalf("begin: %d %v", status, begun)
			}
			back := armaturetest.Consent(t, provider.URL, "ada@away.example", "a long enough pass phrase", address, s.URL)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", ada)
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/app" {
				t.Fatalf("the way back: %s to %q", res.Status, res.Header.Get("Location"))
			}
		}
		connect()
		w.Follow("profile", "And once back")

		// Tokens that live four seconds are renewed again and again, each time with the
		// refresh token that the renewal before has given.
		provider.Want("PUT", "/api/resource/OAuth Settings/OAuth Settings", map[string]any{"access_token_lifetime": 4, "refresh_token_grace": 0})
		connect()
		renewals := map[any]bool{}
		armaturetest.Eventually(t, "the token was renewed twice", func() bool {
			if got := show(); got["connected"] != true {
				t.Fatalf("between renewals: %v\n%s", got, s.Log)
			}
			status, cache := s.CallAs(ada, "GET", "/api/resource/Token Cache/"+name+"-ada@home.example", nil)
			if status != http.StatusOK {
				t.Fatalf("the connection: %d %v", status, cache)
			}
			renewals[cache["data"].(map[string]any)["expires"]] = true
			return len(renewals) > 2
		})

		// A site that is paused renews nothing, which its original would miss, and its
		// secrets are as they were.
		in.Run("site", "pause", "default")
		armaturetest.Eventually(t, "nothing is sent from the site", func() bool { return show()["connected"] != true })
		if status, answer := s.CallAs(ada, "GET", "/api/method/acme.profile.show?app="+name, nil); status == http.StatusOK {
			t.Errorf("of a paused site: %d %v", status, answer)
		}
		if d := doctor(in); !d.Well || d.says("outgoing", "site resume") != 1 || d.says("secrets", "") != 0 {
			t.Errorf("the doctor says %+v", d)
		}
		in.Run("site", "resume", "default")
		armaturetest.Eventually(t, "it is sent again", func() bool { return show()["connected"] == true })

		// The other server ends it: the token is of no use at once.
		provider.Want("PUT", "/api/resource/User/ada@away.example", map[string]any{"enabled": 0})
		armaturetest.Eventually(t, "the token has ended", func() bool { return show()["connected"] != true })
		if strings.Contains(s.Log.String(), client["client_secret"].(string)) {
			t.Error("the client's secret is in the log")
		}
	})
}
