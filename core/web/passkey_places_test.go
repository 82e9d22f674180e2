package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"armature/core/auth/passkey"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/sites/sitetest"
	"armature/core/social"
)

// TestPasskeyAtTwoServers: what one server asks is answered at another, once.
func TestPasskeyAtTwoServers(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.Configure(t, "host_name", `"`+shop+`"`) // where the other one reads it as well
		twin := s.Twin(t)
		sid := loggedIn(t, s, jane)
		d := newDevice()
		q, token := question(t, passkeys(t, s, sid))
		if r := change(t, twin, sid, url.Values{"do": {"make"}, "question": {token}, "passkey": {d.create(t, q)}, "title": {"Laptop"}}); r.StatusCode != 200 {
			t.Fatalf("made at the other one: %d %s", r.StatusCode, r.text)
		}
		q, token, cookie := asking(t, twin)
		answer := d.get(t, q)
		if r := answering(t, s, token, cookie, answer); r.StatusCode != 303 || who(t, twin, r.sid()) != jane {
			t.Fatalf("shown at the other one: %d %s", r.StatusCode, r.text)
		}
		for _, at := range []*sitetest.Server{s, twin} {
			if r := answering(t, at, token, cookie, answer); r.sid() != "" {
				t.Error("an answer counts twice")
			}
		}
	})
}

// TestPasskeyInIDToken: an application is told that a passkey was shown.
func TestPasskeyInIDToken(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		const callback = "https://app.example.test/back"
		client := s.Admin.Post("/api/resource/OAuth Client", map[string]any{
			"app_name": "Till", "redirect_uris": callback, "default_redirect_uri": callback, "skip_authorization": 1, "scopes": "openid",
		}).OK(t).Data(t)
		id, secret := client["client_id"].(string), client["client_secret"].(string)
		d, _ := registered(t, s, loggedIn(t, s, jane), "Laptop")
		sid := touched(t, s, d).sid()
		const prefix = "/api/method/framework.integrations.oauth2."
		asks := url.Values{"client_id": {id}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid"}, "state": {"of the application"}}
		r := send(t, s, "GET", prefix+"authorize?"+asks.Encode(), "", "Cookie", sid)
		to, err := url.Parse(r.Header.Get("Location"))
		if err != nil || to.Query().Get("code") == "" {
			t.Fatalf("%d to %s: %s", r.StatusCode, r.Header.Get("Location"), r.text)
		}
		form := url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "redirect_uri": {callback}, "client_id": {id}, "client_secret": {secret}}
		r = send(t, s, "POST", prefix+"get_token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		token, _ := r.body["id_token"].(string)
		parts := strings.Split(token, ".")
		if len(parts) != 3 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		text, err := b64.DecodeString(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		var told struct {
			Methods []string `json:"amr"`
			Class   string   `json:"acr"`
		}
		if err := json.Unmarshal(text, &told); err != nil || strings.Join(told.Methods, " ") != "hwk user mfa" || told.Class != "urn:armature:acr:two-factors" {
			t.Errorf("%v: %s", err, text)
		}
	})
}

// TestLastWayIn: who has no password keeps a passkey or an account elsewhere, and either
// will do for the other to go.
func TestLastWayIn(t *testing.T) {
	eachShop(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		d, _ := registered(t, s, loggedIn(t, s, jane), "Laptop")
		plant := func(fn func(tx document.Tx) error) {
			t.Helper()
			if err := s.Tenant.Store.Write(t.Context(), document.GroupedTx, fn); err != nil {
				t.Fatal(err)
			}
		}
		// As somebody is who has come with an account elsewhere.
		plant(func(tx document.Tx) error {
			user := s.Tenant.Documents.Schema().DocType("User")
			_, err := tx.UpdateIf(t.Context(), user, jane, map[string]any{"name": jane}, map[string]any{"password_hash": nil})
			if err != nil {
				return err
			}
			tie := doctype.NewDocument(social.Tables()[0])
			for field, value := range map[string]any{
				"name": "tied", "owner": jane, "modified_by": jane, "creation": "2031-03-04 12:00:00.000000", "modified": "2031-03-04 12:00:00.000000",
				"user": jane, "provider": "Example", "account": "jane",
			} {
				tie.Put(field, value)
			}
			return tx.Insert(t.Context(), tie)
		})
		remove := func(sid string) reply {
			t.Helper()
			return change(t, s, sid, url.Values{"do": {"remove"}, "name": {passkey.Name(d.id)}})
		}
		disconnect := func(sid string) reply {
			t.Helper()
			form := url.Values{"do": {"disconnect"}, "account": {"tied"}, "csrf_token": {found(t, csrfField, passkeys(t, s, sid).text)}}
			return send(t, s, "POST", "/app/accounts", form.Encode(), "Cookie", sid, "Content-Type", "application/x-www-form-urlencoded")
		}
		sid := touched(t, s, d).sid()
		if r := disconnect(sid); r.StatusCode != 303 || r.Header.Get("Location") != "/app/accounts?done=removed" {
			t.Fatalf("the account beside a passkey: %d %s", r.StatusCode, r.text)
		}
		if r := remove(sid); r.StatusCode != 417 || !strings.Contains(r.text, "only way in") {
			t.Errorf("the last passkey: %d %s", r.StatusCode, r.text)
		}
		if r := touched(t, s, d); r.sid() == "" {
			t.Errorf("it is gone: %s", r.text)
		}
		setPassword(t, s, jane, right)
		if r := remove(touched(t, s, d).sid()); r.StatusCode != 303 {
			t.Errorf("beside a password: %d %s", r.StatusCode, r.text)
		}
	})
}
