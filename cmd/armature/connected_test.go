package main_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// TestConnectedServers has one server log its users in at another: both ends of
// OAuth are ours, and a plugin asks the other server in the user's name.
func TestConnectedServers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		away := &installation{t: t, data: t.TempDir()} // the provider
		provider := away.serve()
		provider.auth = away.keys("Administrator")
		provider.want("POST", "/api/resource/User", map[string]any{
			"email": "ada@away.example", "first_name": "Ada", "last_name": "Lovelace", "new_password": "a long enough pass phrase",
		})

		// The README of the plugin is what happens here.
		w := in.walk("PROVIDER=" + provider.url)
		w.follow("profile", "Install")
		host := strings.TrimPrefix(provider.url, "http://")
		in.run("site", "config", "default", "set", "allowed_private_hosts", `["`+host+`"]`)
		w.start()
		s := w.server
		s.want("POST", "/api/resource/User", map[string]any{"email": "ada@home.example", "first_name": "Ada"})
		app := s.want("POST", "/api/resource/Connected App", map[string]any{
			"provider_name": "Away", "openid_configuration": provider.url + "/.well-known/openid-configuration",
			"scopes": []any{map[string]any{"scope": "openid"}}, "allowed_hosts": host,
		}).(map[string]any)
		client := provider.want("POST", "/api/resource/OAuth Client", map[string]any{
			"app_name": "Home", "redirect_uris": app["redirect_uri"], "scopes": "openid", "skip_authorization": 1,
		}).(map[string]any)
		name := app["name"].(string)
		s.want("PUT", "/api/resource/Connected App/"+name, map[string]any{
			"client_id": client["client_id"], "client_secret": client["client_secret"],
		})
		if _, err := w.enter("APP=" + name); err != nil {
			t.Fatal(err)
		}
		w.follow("profile", "A user who has not connected yet")

		ada := strings.TrimPrefix(w.variable("ADA"), "Authorization: ")
		show := func() map[string]any {
			t.Helper()
			status, answer := s.callAs(ada, "GET", "/api/method/acme.profile.show?app="+name, nil)
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
			status, begun := s.callAs(ada, "POST", "/api/resource/Connected App/"+name, map[string]any{"run_method": "initiate_web_application_flow"})
			address, _ := begun["data"].(string)
			if status != http.StatusOK || address == "" {
				t.Fatalf("begin: %d %v", status, begun)
			}
			back := consent(t, provider.url, "ada@away.example", "a long enough pass phrase", address, s.url)
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
		w.follow("profile", "And once back")

		// Tokens that live four seconds are renewed again and again, each time with the
		// refresh token that the renewal before has given.
		provider.want("PUT", "/api/resource/OAuth Settings/OAuth Settings", map[string]any{"access_token_lifetime": 4, "refresh_token_grace": 0})
		connect()
		renewals := map[any]bool{}
		eventually(t, "the token was renewed twice", func() bool {
			if got := show(); got["connected"] != true {
				t.Fatalf("between renewals: %v\n%s", got, s.log)
			}
			status, cache := s.callAs(ada, "GET", "/api/resource/Token Cache/"+name+"-ada@home.example", nil)
			if status != http.StatusOK {
				t.Fatalf("the connection: %d %v", status, cache)
			}
			renewals[cache["data"].(map[string]any)["expires"]] = true
			return len(renewals) > 2
		})

		// A site that is paused renews nothing, which its original would miss, and its
		// secrets are as they were.
		in.run("site", "pause", "default")
		eventually(t, "nothing is sent from the site", func() bool { return show()["connected"] != true })
		if status, answer := s.callAs(ada, "GET", "/api/method/acme.profile.show?app="+name, nil); status == http.StatusOK {
			t.Errorf("of a paused site: %d %v", status, answer)
		}
		if d := in.doctor(); !d.Well || d.says("outgoing", "site resume") != 1 || d.says("secrets", "") != 0 {
			t.Errorf("the doctor says %+v", d)
		}
		in.run("site", "resume", "default")
		eventually(t, "it is sent again", func() bool { return show()["connected"] == true })

		// The other server ends it: the token is of no use at once.
		provider.want("PUT", "/api/resource/User/ada@away.example", map[string]any{"enabled": 0})
		eventually(t, "the token has ended", func() bool { return show()["connected"] != true })
		if strings.Contains(s.log.String(), client["client_secret"].(string)) {
			t.Error("the client's secret is in the log")
		}
	})
}

// consent logs a user in at a provider, follows an authorization address, and
// returns the first address of ours that it leads to.
func consent(t *testing.T, provider, user, password, address, home string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	back := ""
	browser := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), home+"/") {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.PostForm(provider+"/api/method/login", url.Values{"usr": {user}, "pwd": {password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("log in at the provider: %s", res.Status)
	}
	if res, err = browser.Get(address); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if back == "" {
		t.Fatalf("the provider did not lead back: %s", res.Status)
	}
	return back
}
