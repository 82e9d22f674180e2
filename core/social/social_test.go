package social_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// The Activity Log has who came in and how, and the page shows what there is.
func TestConnectAndLogIn(t *testing.T) {
	each(t, nil, func(w *world) {
		w.person("ada@example.com")
		b := w.browser()
		b.get("/login").shows(200, "Log in with <bdi>Example</bdi>")
		b.arrive().shows(417, "nobody&#39;s here yet") // the address alone lets nobody in
		if b.who() != "" {
			w.t.Fatal("logged in by an address")
		}
		b.login("ada@example.com").connect().leads("/app/accounts?done=added")
		b.get("/app/accounts?done=added").shows(200, "ada@example.com")

		again := w.browser()
		again.back(again.begin("redirect-to", "/app/docs")).leads("/app/docs")
		if got := again.who(); got != "ada@example.com" {
			w.t.Fatalf("logged in as %q", got)
		}
		log := w.Admin.On(w.t).Get("/api/resource/Activity Log", "fields", `["subject"]`, "limit", "100").OK(w.t).Text
		for _, want := range []string{"Login: ada@example.com with Example", "An account of Example lets ada@example.com in", "An account of Example is nobody's here", "Social Login Key Example was made"} {
			if !strings.Contains(log, want) {
				w.t.Errorf("the Activity Log does not say %q: %s", want, log)
			}
		}
		// Another user cannot have the same account.
		w.person("eve@example.com")
		w.browser().login("eve@example.com").connect().shows(417, "another user&#39;s here")
	})
}

// A disabled user stays out, and so does one who is deleted and comes again.
func TestShutOut(t *testing.T) {
	each(t, nil, func(w *world) {
		w.person("ada@example.com")
		w.browser().login("ada@example.com").connect().leads("/app/accounts?done=added")
		w.Admin.On(w.t).Put("/api/resource/User/ada@example.com", map[string]any{"enabled": 0}).OK(w.t)
		w.browser().arrive().shows(401, "User disabled or missing")
		w.gone("/api/resource/User/ada@example.com")
		w.person("ada@example.com")
		w.browser().arrive().shows(417, "nobody&#39;s here yet")
		w.set(map[string]any{"enable_social_login": 0})
		b := w.browser()
		if a := b.get("/login"); strings.Contains(a.text, "Example") {
			w.t.Error("the button of a key that is switched off")
		}
		b.post("/login/with", "provider", "Example").shows(417, "no such way")
	})
}

// The secret is nowhere to be read.
func TestSecretIsSealed(t *testing.T) {
	each(t, nil, func(w *world) {
		for _, r := range []string{
			"/api/resource/Social Login Key/Example", "/api/method/framework.client.get_password?doctype=Social+Login+Key&name=Example&fieldname=client_secret",
		} {
			if got := w.Admin.On(w.t).Get(r); strings.Contains(got.Text, clientSecret) {
				w.t.Errorf("%s shows the secret: %s", r, got.Text)
			}
		}
		w.User(w.t, "ada@example.com").Get("/api/resource/Social Login Key/Example").Fails(w.t, 403, "PermissionError")
	})
}

// Whatever is not the answer to a flow of this browser is refused, and a state is good
// once, in whichever process.
func TestState(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Everybody"}, func(w *world) {
		const refused = "not the answer to a login that was begun in this browser"
		b := w.browser()
		asked := b.begin()
		w.browser().back(asked).shows(417, refused) // of another browser: a login that an attacker has begun
		b.back(asked, "state", "").shows(417, refused)
		b.back(asked, "state", "AAAAAAAAAAAAAAAAAAAAAAAAAA").shows(417, refused)
		asked = b.begin()
		b.get("/login/with/Example?state="+asked.Get("state")+"&state=x&code=good").shows(417, refused)
		asked = b.begin()
		b.get("/login/with/Other?code=good&state="+asked.Get("state")).shows(417, refused)

		asked = b.begin()
		w.c.pass(11 * time.Minute)
		b.back(asked).shows(417, refused)

		// Two answers at once, at two processes: one is let in.
		twin := w.Twin(w.t)
		asked = b.begin()
		var wait sync.WaitGroup
		status := make([]*answer, 2)
		for i, at := range []string{w.URL, twin.URL} {
			one := *b
			one.url = at
			wait.Go(func() { status[i] = withCookies(&one, b, asked) })
		}
		wait.Wait()
		in := 0
		for _, a := range status {
			if a.status == http.StatusSeeOther {
				in++
			}
		}
		if in != 1 {
			w.t.Errorf("%d of two answers were taken: %v %v", in, status[0], status[1])
		}
	})
}

// withCookies comes back at another server with the cookies of a browser at the first.
func withCookies(at, of *browser, asked url.Values) *answer {
	here, _ := url.Parse(of.url)
	r, err := http.NewRequest(http.MethodGet, at.url+"/login/with/Example?code=good&state="+asked.Get("state"), nil)
	if err != nil {
		panic(err)
	}
	r.Host = here.Host
	for _, c := range of.c.Jar.Cookies(here) {
		r.AddCookie(c)
	}
	r.Header.Set("Accept", "text/html")
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		return &answer{w: of.w, text: err.Error()}
	}
	defer res.Body.Close()
	return &answer{w: of.w, status: res.StatusCode, location: res.Header.Get("Location")}
}

// RFC 9207: an answer that names another provider is not taken, nor one that names none of
// a provider that always does.
func TestMixUp(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Everybody"}, func(w *world) {
		b := w.browser()
		b.back(b.begin(), "iss", "https://attacker.example").shows(417, "The answer is not of Example")
		b.back(b.begin(), "iss", w.p.URL).leads("/")
		w.p.change(func() { w.p.metadata["authorization_response_iss_parameter_supported"] = true })
		w.c.pass(2 * time.Hour) // the document is read again
		b = w.browser()
		b.back(b.begin()).shows(417, "The answer is not of Example")
		b.back(b.begin(), "iss", w.p.URL).leads("/")
		b.back(b.begin(), "error", "access_denied", "error_description", "<script>", "code", "", "iss", w.p.URL).shows(417, "Example refused: access_denied")
	})
}

// ID tokens that are not for this login.
func TestIDTokens(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Everybody"}, func(w *world) {
		now := w.c.now().Unix()
		for _, bad := range []struct {
			name   string
			claims []any
		}{
			{"another nonce", []any{"nonce", "x"}},
			{"no nonce", []any{"nonce", nil}},
			{"another issuer", []any{"iss", "https://attacker.example"}},
			{"another audience", []any{"aud", "somebody"}},
			{"no audience", []any{"aud", nil}},
			{"two audiences and no party", []any{"aud", []string{clientID, "somebody"}}},
			{"another party", []any{"azp", "somebody"}},
			{"past its time", []any{"exp", now - 3600, "iat", now - 7200}},
			{"no end", []any{"exp", nil}},
			{"nobody", []any{"sub", ""}},
			{"another access token", []any{"at_hash", "AAAAAAAAAAAAAAAAAAAAAA"}},
		} {
			w.p.says(bad.claims...)
			if a := w.browser().arrive(); a.status != 417 || !strings.Contains(a.text, "The ID token of Example is not valid") {
				w.t.Errorf("%s: %d %s", bad.name, a.status, a.text)
			}
		}
		w.p.says()
		for name, sign := range map[string]func(map[string]any) string{
			"no signature":  func(c map[string]any) string { return unsigned(map[string]any{"alg": "none"}, c) + "." },
			"another key":   func(c map[string]any) string { return newProvider(w.t, w.c.now).rs256("one", c) },
			"a known key":   func(c map[string]any) string { return w.p.rs256("nobody", c) + "x" },
			"HS256":         func(c map[string]any) string { return hs256(clientSecret, c) },
			"no JWT at all": func(map[string]any) string { return "x" },
		} {
			w.p.change(func() { w.p.sign = sign })
			if a := w.browser().arrive(); a.status != 417 || !strings.Contains(a.text, "The ID token of Example is not valid") {
				w.t.Errorf("%s: %d %s", name, a.status, a.text)
			}
		}
		w.p.change(func() { w.p.sign = nil })
		w.p.says("aud", []string{clientID, "somebody"}, "azp", clientID)
		w.browser().arrive().leads("/")
	})
}

// What the ID token leaves out is asked for, of the same person.
func TestUserinfo(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Everybody"}, func(w *world) {
		w.p.says("email", nil, "email_verified", nil, "name", nil, "given_name", nil, "family_name", nil)
		w.p.change(func() {
			w.p.userinfo = map[string]any{"sub": "eve", "email": "ada@example.com", "email_verified": true}
		})
		w.browser().arrive().shows(417, "two people at once")
		w.p.change(func() {
			w.p.userinfo = map[string]any{"sub": "ada", "email": "Ada@Example.com", "email_verified": "true", "name": "Ada"}
		})
		b := w.browser()
		b.arrive().leads("/")
		if got := b.who(); got != "ada@example.com" {
			w.t.Errorf("logged in as %q", got)
		}
	})
}

func TestSignUps(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Allowed Domains", "allowed_domains": "example.com, example.org"}, func(w *world) {
		refused := func(why string, claims ...any) {
			w.t.Helper()
			w.p.says(append([]any{"sub", why}, claims...)...)
			w.browser().arrive().shows(417, "nobody&#39;s here yet")
		}
		refused("unverified", "email_verified", false)
		w.p.change(func() { w.p.userinfo = map[string]any{"sub": "unknown"} })
		refused("unknown", "email", nil)
		refused("elsewhere", "email", "ada@evil.example")
		refused("below", "email", "ada@sub.example.com")
		refused("hidden", "email", "ada@evil.example@example.com.evil.example")
		refused("administrator", "email", "Administrator")
		w.p.says()
		b := w.browser()
		b.arrive().leads("/")
		got := w.Admin.On(w.t).Get("/api/resource/User/ada@example.com").Data(w.t)
		if b.who() != "ada@example.com" || got["first_name"] != "Ada" || got["last_name"] != "Lovelace" || got["user_type"] != "Website User" || len(w.roles("ada@example.com")) > 0 {
			w.t.Errorf("the new user: %v", got)
		}
		w.set(map[string]any{"sign_ups": "Nobody"})
		refused("later", "email", "bob@example.com")
		w.p.says()
		w.browser().arrive().leads("/") // who is known comes in
	})
}

func TestTrustedDomains(t *testing.T) {
	each(t, map[string]any{"trusted_domains": "example.com"}, func(w *world) {
		for _, user := range []string{"ada@example.com", "bob@example.org", "off@example.com"} {
			w.person(user)
		}
		w.Admin.On(w.t).Put("/api/resource/User/off@example.com", map[string]any{"enabled": 0}).OK(w.t)
		for sub, claims := range map[string][]any{
			"unverified": {"email_verified", false}, "untrusted": {"email", "bob@example.org"}, "disabled": {"email", "off@example.com"}, "nobody": {"email", "new@example.com"},
		} {
			w.p.says(append([]any{"sub", sub}, claims...)...)
			w.browser().arrive().shows(417, "nobody&#39;s here yet")
		}
		w.p.says()
		b := w.browser()
		b.arrive().leads("/")
		if b.who() != "ada@example.com" {
			w.t.Errorf("logged in as %q", b.who())
		}
	})
}

func TestRolesOfClaims(t *testing.T) {
	rules := map[string]any{"sign_ups": "Everybody", "roles_claim": "realm.groups", "roles": []any{
		map[string]any{"claim_value": "staff", "role": "Desk Editor"}, map[string]any{"claim_value": "boss", "role": "System Manager"}, map[string]any{"claim_value": "*", "role": "Visitor"},
	}}
	each(t, nil, func(w *world) {
		for _, role := range []string{"Desk Editor", "Visitor", "Own"} {
			w.Admin.On(w.t).Post("/api/resource/Role", map[string]any{"role_name": role}).OK(w.t)
		}
		w.set(rules)
		w.p.change(func() { w.p.userinfo = map[string]any{"sub": "ada"} })
		groups := func(names ...string) { w.p.says("realm", map[string]any{"groups": names}) }
		groups("staff", "unknown")
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Desk Editor,Visitor" {
			w.t.Errorf("given: %s", got)
		}
		w.Admin.On(w.t).Put("/api/resource/User/ada@example.com", map[string]any{"roles": []any{
			map[string]any{"role": "Desk Editor"}, map[string]any{"role": "Visitor"}, map[string]any{"role": "Own"}}}).OK(w.t)
		groups("boss")
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Visitor,Own,System Manager" {
			w.t.Errorf("another group: %s", got)
		}
		groups()
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Visitor,Own" {
			w.t.Errorf("no group: %s", got)
		}
		// Who wrote the rules may not give roles any more: nor do the rules.
		w.person("boss@example.com", "System Manager")
		w.As(w.t, "boss@example.com").Put("/api/resource/Social Login Key/Example", map[string]any{"scopes": "openid email"}).OK(w.t)
		groups("boss")
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Visitor,Own,System Manager" {
			w.t.Errorf("of another author: %s", got)
		}
		w.Admin.On(w.t).Put("/api/resource/User/boss@example.com", map[string]any{"roles": []any{}}).OK(w.t)
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Own" {
			w.t.Errorf("the author has no right any more: %s", got)
		}
		w.set(map[string]any{"scopes": "openid"})
		w.browser().arrive()
		if got := w.roles("ada@example.com"); got != "Own,System Manager,Visitor" {
			w.t.Errorf("written anew: %s", got)
		}
		w.gone("/api/resource/Social Login Key/Example")
		if got := w.roles("ada@example.com"); got != "Own" {
			w.t.Errorf("the key is gone: %s", got)
		}
	})
}

func TestRulesThatAreRefused(t *testing.T) {
	each(t, nil, func(w *world) {
		w.Admin.On(w.t).Post("/api/resource/Role", map[string]any{"role_name": "Key Keeper"}).OK(w.t)
		for _, bad := range []map[string]any{
			{"openid_configuration": "https://id.example"}, {"openid_configuration": "javascript:alert(1)/.well-known/openid-configuration"},
			{"social_login_provider": "Microsoft"}, {"social_login_provider": "Microsoft", "tenant": "a/b"}, {"sign_ups": "Allowed Domains"},
			{"trusted_domains": "*.example.com"}, {"trusted_domains": "com"}, {"second_factor": "mfa"},
			{"roles": []any{map[string]any{"claim_value": "*", "role": "Administrator"}}},
			{"roles": []any{map[string]any{"claim_value": "x", "role": "Key Keeper"}}},
		} {
			if r := w.Admin.On(w.t).Put("/api/resource/Social Login Key/Example", bad); r.Status != 417 {
				w.t.Errorf("%v: %d %s", bad, r.Status, r.Text)
			}
		}
		w.User(w.t, "eve@example.com").Post("/api/resource/Social Login Key", map[string]any{"provider_name": "X", "client_id": "x"}).Fails(w.t, 403, "PermissionError")
	})
}

// A second factor that is demanded holds, unless the provider says that it was shown.
func TestSecondFactor(t *testing.T) {
	each(t, map[string]any{"sign_ups": "Everybody", "second_factor": "amr:mfa acr:urn:two"}, func(w *world) {
		b := w.browser()
		b.arrive().leads("/")
		w.Configure(w.t, "require_second_factor", "true")
		if b.who() != "" {
			w.t.Error("the session without a factor goes on")
		}
		asked := b.begin("redirect-to", "/app/docs")
		if asked.Get("acr_values") != "urn:two" {
			w.t.Errorf("asked for %q", asked.Get("acr_values"))
		}
		b.back(asked).leads("/login/code?redirect-to=%2Fapp%2Fdocs")
		b.get("/login/code").shows(200, "QR code")
		if b.who() != "" {
			w.t.Error("in before the factor")
		}
		for _, claims := range [][]any{{"amr", []string{"pwd", "mfa"}}, {"acr", "urn:two"}} {
			w.p.says(claims...)
			b := w.browser()
			b.arrive().leads("/")
			if b.who() != "ada@example.com" {
				w.t.Errorf("with %v logged in as %q", claims, b.who())
			}
		}
		w.p.says("amr", []string{"pwd"}, "acr", "urn:one")
		w.browser().arrive().leads("/login/code")
	})
}

// An account is connected and disconnected shortly after a login, in the session that
// began it, and the last way in stays.
func TestConnecting(t *testing.T) {
	each(t, nil, func(w *world) {
		w.person("ada@example.com")
		w.person("eve@example.com")
		b := w.browser().login("ada@example.com")
		asked := b.left(b.own("do", "connect", "provider", "Example"))
		b.login("eve@example.com")
		b.back(asked).shows(417, "not the answer")
		b.login("ada@example.com")
		b.connect().leads("/app/accounts?done=added")
		id := between(b.get("/app/accounts").text, `name="account" value="`, `"`)
		w.browser().login("eve@example.com").own("do", "disconnect", "account", id).shows(404, "no such account")
		w.c.pass(time.Hour)
		b.own("do", "connect", "provider", "Example").leads("/login?redirect-to=%2Fapp%2Faccounts&switch=1")
		b.own("do", "disconnect", "account", id).leads("/login?redirect-to=%2Fapp%2Faccounts&switch=1")
		b.login("ada@example.com").own("do", "disconnect", "account", id).leads("/app/accounts?done=removed")
		w.browser().arrive().shows(417, "nobody&#39;s here yet")

		w.set(map[string]any{"sign_ups": "Everybody"})
		w.p.says("sub", "new", "email", "new@example.com")
		b = w.browser()
		b.arrive().leads("/")
		id = between(b.get("/app/accounts").text, `name="account" value="`, `"`)
		b.own("do", "disconnect", "account", id).shows(417, "only way in")

		admin := w.browser().login("Administrator")
		w.p.says("sub", "root")
		admin.connect().shows(417, "Nobody logs in as Administrator")
	})
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

// GitHub says in its API who somebody is.
func TestGitHub(t *testing.T) {
	each(t, map[string]any{"social_login_provider": "GitHub", "base_url": "URL", "openid_configuration": "", "sign_ups": "Everybody"}, func(w *world) {
		w.p.change(func() {
			w.p.api["/api/v3/user"] = map[string]any{"id": 42, "login": "ada", "name": nil}
			w.p.api["/api/v3/user/emails"] = []any{map[string]any{"email": "ada@example.com", "primary": true, "verified": false}, map[string]any{"email": "x@example.com", "verified": true}}
		})
		b := w.browser()
		asked := b.begin()
		if asked.Get("scope") != "read:user user:email" || asked.Get("code_challenge") == "" {
			w.t.Errorf("asked: %v", asked)
		}
		b.back(asked).shows(417, "nobody&#39;s here yet")
		w.p.change(func() {
			w.p.api["/api/v3/user/emails"] = []any{map[string]any{"email": "ada@example.com", "primary": true, "verified": true}}
		})
		b.arrive().leads("/")
		if b.who() != "ada@example.com" {
			w.t.Errorf("logged in as %q", b.who())
		}
		w.p.change(func() { w.p.api["/api/v3/user"] = map[string]any{"id": 43, "login": "ada"} }) // the name is somebody else's now
		w.browser().arrive().shows(417, "nobody&#39;s here yet")
		w.p.change(func() { w.p.api["/api/v3/user"] = map[string]any{} })
		w.browser().arrive().shows(503, "did not say who it is")
	})
}

// Google answers for its own addresses: gmail.com, and the domain whose account it is.
func TestGoogle(t *testing.T) {
	each(t, map[string]any{"social_login_provider": "Google", "base_url": "URL", "openid_configuration": "", "trusted_domains": "example.com gmail.com"}, func(w *world) {
		w.person("ada@example.com")
		w.person("ada@gmail.com")
		w.browser().arrive().shows(417, "nobody&#39;s here yet")
		w.p.says("hd", "example.org")
		w.browser().arrive().shows(417, "nobody&#39;s here yet")
		w.p.says("hd", "example.com")
		w.browser().arrive().leads("/")
		w.p.says("sub", "other", "email", "ada@gmail.com")
		b := w.browser()
		b.arrive().leads("/")
		if b.who() != "ada@gmail.com" {
			w.t.Errorf("logged in as %q", b.who())
		}
	})
}

// Microsoft issues as each tenant, and any tenant may write any address.
func TestMicrosoft(t *testing.T) {
	const one, other, people = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555", "9188040d-6c67-4c5b-b112-36a304b66dad"
	each(t, map[string]any{"social_login_provider": "Microsoft", "tenant": "organizations", "base_url": "URL", "openid_configuration": "", "sign_ups": "Everybody"}, func(w *world) {
		w.p.change(func() { w.p.metadata["issuer"] = w.p.URL + "/{tenantid}/v2.0" })
		from := func(tid, issuer string, more ...any) *answer {
			w.t.Helper()
			w.p.says(append([]any{"tid", tid, "iss", w.p.URL + "/" + issuer + "/v2.0", "email_verified", nil}, more...)...)
			return w.browser().arrive()
		}
		from(one, one).shows(417, "nobody&#39;s here yet") // an address that nobody has checked
		from(one, one, "email_verified", true).shows(417, "nobody&#39;s here yet")
		from(one, other, "xms_edov", true).shows(417, "The ID token of Example is not valid")
		from(people, people, "xms_edov", true).shows(417, "The ID token of Example is not valid")
		from("x", "x", "xms_edov", true).shows(417, "The ID token of Example is not valid")
		from(one, one, "xms_edov", true).leads("/")
		from(one, one).leads("/")
		from(other, other).shows(417, "nobody&#39;s here yet") // the same subject of another tenant is somebody else

		w.set(map[string]any{"tenant": "example.com"})
		w.p.change(func() { w.p.metadata["issuer"] = w.p.URL + "/" + one + "/v2.0" })
		from(one, one).leads("/")
		from(other, other, "xms_edov", true).shows(417, "The ID token of Example is not valid")
		w.set(map[string]any{"tenant": "attacker.example"})
		w.p.change(func() { w.p.metadata["issuer"] = "https://attacker.example" })
		w.browser().post("/login/with", "provider", "Example").shows(503, "speaks of another issuer")
	})
}

// A provider that is not there, and one that points the site at its own network.
func TestProviderThatIsOfNoUse(t *testing.T) {
	each(t, nil, func(w *world) {
		b := w.browser()
		w.p.change(func() { w.p.metadata["token_endpoint"] = "http://169.254.169.254/latest" })
		b.post("/login/with", "provider", "Example").shows(417, "is not https")
		w.p.change(func() {
			w.p.metadata["token_endpoint"] = w.p.URL + "/token"
			w.p.metadata["issuer"] = "https://attacker.example"
		})
		b.post("/login/with", "provider", "Example").shows(503, "speaks of another issuer")
		w.Configure(w.t, "allowed_private_hosts", "[]")
		b.post("/login/with", "provider", "Example").shows(417, "is not https")
		b.post("/login/with", "provider", "../x").shows(417, "no such way")
		b.get("/login/with").shows(405, "")
	})
}

// TestAddressesThatChanged: who has an address now is its user, and nobody comes in by one
// that a user had before, which may be somebody else's by now.
func TestAddressesThatChanged(t *testing.T) {
	each(t, map[string]any{"trusted_domains": "example.com", "sign_ups": "Everybody"}, func(w *world) {
		w.person("jane@example.com")
		w.Admin.On(w.t).Post("/api/method/framework.user.set_address", map[string]any{"user": "jane@example.com", "email": "ada@example.com"}).OK(w.t)
		w.p.says("sub", "another", "email", "jane@example.com")
		w.browser().arrive().shows(417, "nobody&#39;s here yet")
		w.p.says()
		b := w.browser()
		b.arrive().leads("/")
		if b.who() != "jane@example.com" {
			w.t.Errorf("logged in as %q", b.who())
		}
	})
}
