package oauth_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

const (
	prefix   = "/api/method/framework.integrations.oauth2."
	callback = "https://client.example/cb"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	s256     = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	password = "correct horse battery"
)

// world is a server with one client and one browser.
type world struct {
	t *testing.T
	*sitetest.Server
	id, secret string
	browser    *browser
}

// newWorld registers a trusted client, unless with says otherwise, and logs the
// Administrator in.
func newWorld(t *testing.T, s *sitetest.Server, with map[string]any) *world {
	t.Helper()
	w := &world{t: t, Server: s}
	w.id, w.secret = w.client(with)
	w.browser = w.login("Administrator", password)
	return w
}

// client makes an OAuth client over REST.
func (w *world) client(with map[string]any) (id, secret string) {
	w.t.Helper()
	values := map[string]any{
		"app_name": "Test", "scopes": "all openid", "redirect_uris": callback, "default_redirect_uri": callback,
		"grant_type": "Authorization Code", "response_type": "Code", "skip_authorization": 1,
	}
	for k, v := range with {
		values[k] = v
	}
	doc := w.Admin.On(w.t).Post("/api/resource/OAuth%20Client", values).Data(w.t)
	id, _ = doc["client_id"].(string)
	secret, _ = doc["client_secret"].(string)
	if id == "" || id != doc["name"] || len(secret) < 43 {
		w.t.Fatalf("client %v", doc)
	}
	return id, secret
}

// browser keeps cookies and follows nothing.
type browser struct {
	t   *testing.T
	url string
	c   *http.Client
}

func (w *world) guest() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{t: w.t, url: w.URL, c: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (w *world) login(user, password string) *browser {
	w.t.Helper()
	b := w.guest()
	r := b.post("/login", url.Values{"usr": {user}, "pwd": {password}})
	if r.status != http.StatusSeeOther {
		w.t.Fatalf("login: %d %s", r.status, r.text)
	}
	return b
}

// answer is what a request got.
type answer struct {
	t        *testing.T
	status   int
	header   http.Header
	location string
	text     string
	json     map[string]any
}

func (b *browser) do(r *http.Request) *answer {
	b.t.Helper()
	res, err := b.c.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	a := &answer{t: b.t, status: res.StatusCode, header: res.Header, location: res.Header.Get("Location"), text: string(text)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(text) > 0 {
		if err := json.Unmarshal(text, &a.json); err != nil {
			b.t.Fatalf("%s %s: not JSON: %s", r.Method, r.URL, text)
		}
	}
	return a
}

func (b *browser) get(path string) *answer {
	b.t.Helper()
	return b.do(b.request(http.MethodGet, path, nil))
}

func (b *browser) request(verb, path string, body []byte) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), verb, b.url+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	return r
}

func (b *browser) post(path string, form url.Values) *answer {
	b.t.Helper()
	r := b.request(http.MethodPost, path, []byte(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.url)
	return b.do(r)
}

// query is a request for authorization; pairs change it, an empty value takes a
// parameter out.
func (w *world) query(pairs ...string) string {
	q := url.Values{"client_id": {w.id}, "response_type": {"code"}, "redirect_uri": {callback}, "scope": {"all openid"}, "state": {"s1"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return prefix + "authorize?" + q.Encode()
}

// redirected demands a redirect to the client and returns its parameters.
func (a *answer) redirected(to string) url.Values {
	a.t.Helper()
	rest, ok := strings.CutPrefix(a.location, to+"?")
	if a.status != http.StatusFound && a.status != http.StatusSeeOther || !ok {
		a.t.Fatalf("got %d to %q, want a redirect to %s: %s", a.status, a.location, to, a.text)
	}
	q, err := url.ParseQuery(rest)
	if err != nil {
		a.t.Fatal(err)
	}
	return q
}

func (a *answer) is(status int, code string) *answer {
	a.t.Helper()
	if a.status != status || a.json["error"] != code {
		a.t.Fatalf("got %d %v, want %d %s: %s", a.status, a.json["error"], status, code, a.text)
	}
	if a.json["exc"] != nil || a.json["exc_type"] != nil {
		a.t.Errorf("an OAuth error carries the platform's keys: %s", a.text)
	}
	return a
}

func (a *answer) ok() *answer {
	a.t.Helper()
	if a.status != http.StatusOK {
		a.t.Fatalf("status %d: %s", a.status, a.text)
	}
	return a
}

func (a *answer) str(key string) string { s, _ := a.json[key].(string); return s }

// code authorizes and returns the code.
func (w *world) code(pairs ...string) string {
	w.t.Helper()
	q := w.browser.get(w.query(pairs...)).redirected(callback)
	if q.Get("code") == "" {
		w.t.Fatalf("no code: %v", q)
	}
	return q.Get("code")
}

// form posts to an endpoint that programs call.
func (w *world) form(endpoint string, pairs ...string) *answer {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	if endpoint == "introspect_token" && !form.Has("client_id") {
		form.Set("client_id", w.id)
		form.Set("client_secret", w.secret)
	}
	return w.send(endpoint, form, nil)
}

func (w *world) send(endpoint string, form url.Values, change func(*http.Request)) *answer {
	w.t.Helper()
	b := w.guest()
	r := b.request(http.MethodPost, prefix+endpoint, []byte(form.Encode()))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(r)
	}
	return b.do(r)
}

// redeem exchanges a code with the client's secret.
func (w *world) redeem(code string, pairs ...string) *answer {
	w.t.Helper()
	return w.form("get_token", append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback,
		"client_id", w.id, "client_secret", w.secret}, pairs...)...)
}

func (w *world) refresh(token string, pairs ...string) *answer {
	w.t.Helper()
	return w.form("get_token", append([]string{"grant_type", "refresh_token", "refresh_token", token,
		"client_id", w.id, "client_secret", w.secret}, pairs...)...)
}

// tokens goes the whole way with the trusted client.
func (w *world) tokens(pairs ...string) (access, refresh string) {
	w.t.Helper()
	a := w.redeem(w.code(pairs...)).ok()
	return a.str("access_token"), a.str("refresh_token")
}

// bearer makes a request with an access token.
func (w *world) bearer(token, verb, path, body string) *answer {
	w.t.Helper()
	b := w.guest()
	r := b.request(verb, path, []byte(body))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	return b.do(r)
}

// works reports whether a token is taken.
func (w *world) works(token string) bool {
	w.t.Helper()
	a := w.bearer(token, "GET", "/api/method/framework.auth.get_logged_user", "")
	switch a.status {
	case http.StatusOK:
		return true
	case http.StatusUnauthorized:
		return false
	}
	w.t.Fatalf("status %d: %s", a.status, a.text)
	return false
}

var (
	formTag  = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)
	inputTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// consent is the form of a consent page.
type consent struct {
	action string
	fields url.Values
}

func (a *answer) consent() consent {
	a.t.Helper()
	a.ok()
	m := formTag.FindStringSubmatch(a.text)
	if m == nil {
		a.t.Fatalf("no form: %s", a.text)
	}
	c := consent{action: html.UnescapeString(m[1]), fields: url.Values{}}
	for _, in := range inputTag.FindAllStringSubmatch(a.text, -1) {
		c.fields.Set(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
	}
	return c
}

func (b *browser) decide(c consent, decision string) *answer {
	b.t.Helper()
	form := url.Values{"decision": {decision}}
	for k, v := range c.fields {
		form[k] = v
	}
	return b.post(c.action, form)
}

// claims checks an ID token with the client's secret and returns what it says.
func claims(t *testing.T, token, secret string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a JWT: %q", token)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if got, err := base64.RawURLEncoding.DecodeString(parts[2]); err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		t.Fatalf("the signature is not that of the secret")
	}
	var head, body map[string]any
	for i, into := range []*map[string]any{&head, &body} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(raw, into) != nil {
			t.Fatalf("part %d of %q", i, token)
		}
	}
	if head["alg"] != "HS256" {
		t.Fatalf("header %v", head)
	}
	return body
}
