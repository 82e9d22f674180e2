package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"armature/core/sites/sitetest"
)

// app is an authenticator app, which is of no use to whoever tests our own codes.
type app struct {
	secret string
	c      *clock
}

// code is what the app shows at the moment. Each call is one period later than the one
// before, since a code is good once.
func (a app) code(t *testing.T) string {
	t.Helper()
	a.c.advance(30 * time.Second)
	code, err := totp.GenerateCode(a.secret, a.c.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

const factorMethods = "/api/method/framework.second_factor."

// factorCall calls one of the methods of second factors with a session.
func factorCall(t *testing.T, s *sitetest.Server, sid, name string, args map[string]string) reply {
	t.Helper()
	if args == nil {
		args = map[string]string{}
	}
	body, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, s, "POST", factorMethods+name, string(body), "Cookie", sid, "Content-Type", "application/json")
}

// enrolled sets an app up for the user of a session.
func enrolled(t *testing.T, s *sitetest.Server, c *clock, sid string) (app, []string) {
	t.Helper()
	begun := factorCall(t, s, sid, "begin", nil)
	message, _ := begun.body["message"].(map[string]any)
	secret, _ := message["secret"].(string)
	token, _ := message["enrolment"].(string)
	if begun.StatusCode != 200 || secret == "" || token == "" {
		t.Fatalf("begin: %d %s", begun.StatusCode, begun.text)
	}
	a := app{secret, c}
	done := factorCall(t, s, sid, "confirm", map[string]string{"enrolment": token, "code": a.code(t)})
	message, _ = done.body["message"].(map[string]any)
	list, _ := message["recovery_codes"].([]any)
	if done.StatusCode != 200 || len(list) != 10 {
		t.Fatalf("confirm: %d %s", done.StatusCode, done.text)
	}
	codes := make([]string, len(list))
	for i, code := range list {
		codes[i], _ = code.(string)
	}
	return a, codes
}

// withCode logs in by the method with a code.
func withCode(t *testing.T, s *sitetest.Server, user, code string, headers ...string) reply {
	t.Helper()
	form := url.Values{"usr": {user}, "pwd": {right}, "otp": {code}}
	return send(t, s, "POST", "/api/method/login", form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

// cookies are what an answer sets, as a Cookie header, and none that it takes away.
func (r reply) cookies() string {
	var list []string
	for _, c := range r.Cookies() {
		if c.MaxAge >= 0 && c.Value != "" {
			list = append(list, c.Name+"="+c.Value)
		}
	}
	return strings.Join(list, "; ")
}

func TestSecondFactorByMethod(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		other, sid := loggedIn(t, s, jane), loggedIn(t, s, jane)
		a, codes := enrolled(t, s, c, sid)
		if who(t, s, sid) != jane || who(t, s, other) != "" {
			t.Error("the session that set the factor up goes on, and the other one ends")
		}
		r := login(t, s, jane, right)
		r.fails(t, 401, "SecondFactorRequired")
		if r.sid() != "" {
			t.Error("a session without the factor")
		}
		// Who does not know the password is not told that there is a factor.
		login(t, s, jane, "wrong").fails(t, 401, "AuthenticationError")
		withCode(t, s, jane, "000000").fails(t, 401, "AuthenticationError")

		code := a.code(t)
		if r := withCode(t, s, jane, code); r.StatusCode != 200 || who(t, s, r.sid()) != jane {
			t.Fatalf("with a code: %d %s", r.StatusCode, r.text)
		}
		withCode(t, s, jane, code).fails(t, 401, "AuthenticationError")
		// The one before is not good either, though its time has not passed.
		c.advance(-30 * time.Second)
		before, _ := totp.GenerateCode(a.secret, c.Now())
		c.advance(30 * time.Second)
		withCode(t, s, jane, before).fails(t, 401, "AuthenticationError")

		spelled := strings.ToLower(strings.ReplaceAll(codes[3], "-", " "))
		if r := withCode(t, s, jane, spelled); r.StatusCode != 200 {
			t.Errorf("with a recovery code: %d %s", r.StatusCode, r.text)
		}
		withCode(t, s, jane, codes[3]).fails(t, 401, "AuthenticationError")
		// One user's codes are nobody else's.
		s.User(t, "bob@example.com")
		setPassword(t, s, "bob@example.com", right)
		bob := loggedIn(t, s, "bob@example.com")
		enrolled(t, s, c, bob)
		withCode(t, s, "bob@example.com", codes[4]).fails(t, 401, "AuthenticationError")
		withCode(t, s, "bob@example.com", a.code(t)).fails(t, 401, "AuthenticationError")
	})
}

// TestFactorChanges: changes need a login that is new, a code, and a session.
func TestFactorChanges(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		sid := loggedIn(t, s, jane)
		elsewhere := loggedIn(t, s, jane)
		begun := factorCall(t, s, elsewhere, "begin", nil)
		token := begun.body["message"].(map[string]any)["enrolment"].(string)
		stolen := app{begun.body["message"].(map[string]any)["secret"].(string), c}
		factorCall(t, s, sid, "confirm", map[string]string{"enrolment": token, "code": stolen.code(t)}).fails(t, 417, "ValidationError")
		send(t, s, "POST", factorMethods+"begin", "", "Authorization", s.As(t, jane).Authorization).fails(t, 403, "PermissionError")
		send(t, s, "POST", factorMethods+"begin", "").fails(t, 403, "PermissionError")
		c.advance(11 * time.Minute)
		factorCall(t, s, sid, "begin", nil).fails(t, 403, "FreshLoginRequired")

		sid = loggedIn(t, s, jane)
		a, codes := enrolled(t, s, c, sid)
		factorCall(t, s, sid, "begin", nil).fails(t, 417, "ValidationError")
		factorCall(t, s, sid, "remove", map[string]string{"code": "000000"}).fails(t, 417, "ValidationError")
		r := factorCall(t, s, sid, "recovery_codes", map[string]string{"code": codes[0]})
		if r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		withCode(t, s, jane, codes[1]).fails(t, 401, "AuthenticationError")
		c.advance(11 * time.Minute)
		factorCall(t, s, sid, "remove", map[string]string{"code": a.code(t)}).fails(t, 403, "FreshLoginRequired")
		sid = withCode(t, s, jane, a.code(t)).sid()
		if r := factorCall(t, s, sid, "remove", map[string]string{"code": a.code(t)}); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		if r := login(t, s, jane, right); r.StatusCode != 200 {
			t.Errorf("without a factor: %d %s", r.StatusCode, r.text)
		}
	})
}
