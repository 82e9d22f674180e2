package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
)

// TestDemandedFactor: where a role or the site demands a factor, no session counts that
// has none, whatever it was begun by.
func TestDemandedFactor(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		demand := map[string]func(on bool){
			"role": func(on bool) {
				s.Admin.Put("/api/resource/Role/System Manager", map[string]any{"two_factor_auth": on}).OK(t)
			},
			"site": func(on bool) {
				configure(t, s, "require_second_factor", map[bool]string{true: "true", false: "false"}[on])
			},
		}
		for what, demands := range demand {
			old := loggedIn(t, s, jane)
			demands(true)
			if who(t, s, old) != "" {
				t.Errorf("%s: a session from before counts", what)
			}
			if r := send(t, s, "GET", "/app", "", "Cookie", old); r.StatusCode != 303 {
				t.Errorf("%s: its page opens: %d", what, r.StatusCode)
			}
			if r := send(t, s, "GET", "/api/method/framework.integrations.oauth2.authorize?client_id=x&response_type=code", "", "Cookie", old); !strings.HasPrefix(r.Header.Get("Location"), "/login?") {
				t.Errorf("%s: it authorizes applications: %d %s", what, r.StatusCode, r.text)
			}
			factorCall(t, s, old, "begin", nil).fails(t, 403, "PermissionError")
			login(t, s, jane, right).fails(t, 401, "SecondFactorEnrolmentRequired")
			withCode(t, s, jane, "000000").fails(t, 401, "SecondFactorEnrolmentRequired")

			waits := page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()
			shown := send(t, s, "GET", "/login/code", "", "Cookie", waits)
			a := app{found(t, keyShown, shown.text), c}
			form := url.Values{"enrolment": {found(t, enrolmentField, shown.text)}, "code": {"000000"}}
			enter := func(cookie string) reply {
				return send(t, s, "POST", "/login/code", form.Encode(), "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded")
			}
			if r := enter(waits); r.StatusCode != 401 || found(t, keyShown, r.text) != a.secret {
				t.Errorf("%s: a wrong code: %d", what, r.StatusCode)
			}
			form.Set("code", a.code(t))
			// The secret belongs to the login that it was shown in.
			if r := enter(page(t, s, url.Values{"usr": {jane}, "pwd": {right}}).cookies()); r.sid() != "" {
				t.Errorf("%s: somebody else's secret is set up", what)
			}
			in := enter(waits)
			if who(t, s, in.sid()) != jane || len(codeShown.FindAllString(in.text, -1)) != 10 {
				t.Fatalf("%s: %d %s", what, in.StatusCode, in.text)
			}
			if r := enter(waits); r.sid() != "" {
				t.Errorf("%s: set up a second time", what)
			}
			factorCall(t, s, in.sid(), "remove", map[string]string{"code": a.code(t)})
			demands(false)
		}
	})
}

// TestResetFactors is what the operator does for who has lost everything.
func TestResetFactors(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		enrolled(t, s, c, sid)
		reset := func(caller *identity.Caller) error {
			return s.Tenant.Store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) error {
				_, err := s.Tenant.Auth.ResetFactors(t.Context(), tx, caller, jane)
				return err
			})
		}
		if err := reset(&identity.Caller{User: jane, Roles: []string{identity.SystemManager}}); err == nil {
			t.Error("a System Manager resets factors")
		}
		if err := reset(identity.Root()); err != nil {
			t.Fatal(err)
		}
		if who(t, s, sid) != "" || rowsOf(t, s, jane) != 0 {
			t.Error("something is left")
		}
		if r := login(t, s, jane, right); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		if log := s.Admin.Get("/api/resource/Activity Log", "filters", `[["operation","=","Second Factor"]]`, "fields", `["subject"]`).Column(t, "subject"); !slices.Contains(log, any("Second factors of "+jane+" were reset")) {
			t.Errorf("the log has %v", log)
		}
	})
}
