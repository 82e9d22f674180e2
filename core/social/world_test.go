package social_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/sites"
	"armature/core/sites/sitetest"
)

const password = "correct horse battery"

// world is a site with one key.
type world struct {
	*sitetest.Server
	t *testing.T
	p *provider
	c *clock
}

type clock struct {
	mu   sync.Mutex
	past time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.past)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
}

// each runs a test on both databases, with a key that is made of values over those of a
// provider of the test's own.
func each(t *testing.T, values map[string]any, test func(w *world)) {
	t.Helper()
	c := &clock{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := &world{Server: s, t: t, p: newProvider(t, c.now), c: c}
		s.Configure(t, "allowed_private_hosts", `["`+w.p.host()+`"]`)
		w.key("Example", values)
		test(w)
	}, func(cfg *sites.Config) { cfg.Clock = c.now })
}

// key makes a key, or changes one.
func (w *world) key(name string, values map[string]any) {
	w.t.Helper()
	all := map[string]any{
		"provider_name": name, "openid_configuration": w.p.URL + "/.well-known/openid-configuration",
		"client_id": clientID, "client_secret": clientSecret,
	}
	for k, v := range values {
		if all[k] = v; v == "URL" {
			all[k] = w.p.URL
		}
	}
	w.Admin.On(w.t).Post("/api/resource/Social Login Key", all).OK(w.t)
}

func (w *world) set(values map[string]any) {
	w.t.Helper()
	w.Admin.On(w.t).Put("/api/resource/Social Login Key/Example", values).OK(w.t)
}

// person makes a user with a password.
func (w *world) person(email string, roles ...string) {
	w.t.Helper()
	rows := []any{}
	for _, r := range roles {
		rows = append(rows, map[string]any{"role": r})
	}
	w.Admin.On(w.t).Post("/api/resource/User", map[string]any{"email": email, "first_name": "Test", "new_password": password, "roles": rows}).OK(w.t)
}

// roles are those that a user's document names.
func (w *world) roles(user string) string {
	w.t.Helper()
	var list []string
	rows, _ := w.Admin.On(w.t).Get("/api/resource/User/" + user).Data(w.t)["roles"].([]any)
	for _, row := range rows {
		list = append(list, row.(map[string]any)["role"].(string))
	}
	return strings.Join(list, ",")
}

// browser keeps cookies and follows nothing.
type browser struct {
	w     *world
	url   string
	c     *http.Client
	token string // of the page of accounts, as it was shown last
}

func (w *world) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{w: w, url: w.URL, c: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what a request got.
type answer struct {
	w        *world
	status   int
	location string
	text     string
}

func (b *browser) do(verb, path string, form url.Values) *answer {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), verb, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if verb == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.url)
	}
	res, err := b.c.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return &answer{b.w, res.StatusCode, res.Header.Get("Location"), string(text)}
}

func (b *browser) get(path string) *answer { b.w.t.Helper(); return b.do(http.MethodGet, path, nil) }

func (b *browser) post(path string, pairs ...string) *answer {
	b.w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

// leads demands a redirect.
func (a *answer) leads(to string) *answer {
	a.w.t.Helper()
	if a.status != http.StatusSeeOther || a.location != to {
		a.w.t.Fatalf("got %d to %q, want %s: %s", a.status, a.location, to, a.text)
	}
	return a
}

// shows demands a page with a text.
func (a *answer) shows(status int, text string) *answer {
	a.w.t.Helper()
	if a.status != status || !strings.Contains(a.text, text) {
		a.w.t.Fatalf("got %d to %q, want %d and %q: %s", a.status, a.location, status, text, a.text)
	}
	return a
}

// begin begins a login and returns what the provider was asked.
func (b *browser) begin(pairs ...string) url.Values {
	b.w.t.Helper()
	return b.left(b.post("/login/with", append([]string{"provider", "Example"}, pairs...)...))
}

// left is what a provider was asked to which the browser was sent.
func (b *browser) left(a *answer) url.Values {
	b.w.t.Helper()
	u, err := url.Parse(a.location)
	if a.status != http.StatusSeeOther || err != nil || !strings.HasPrefix(a.location, b.w.p.URL) {
		b.w.t.Fatalf("got %d to %q: %s", a.status, a.location, a.text)
	}
	q := u.Query()
	b.w.p.change(func() { b.w.p.asked = q })
	return q
}

// back comes back from the provider; pairs are put over what is right.
func (b *browser) back(asked url.Values, pairs ...string) *answer {
	b.w.t.Helper()
	q := url.Values{"state": {asked.Get("state")}, "code": {"good"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	u, err := url.Parse(asked.Get("redirect_uri"))
	if err != nil {
		b.w.t.Fatal(err)
	}
	return b.get(u.EscapedPath() + "?" + q.Encode())
}

// arrive goes the whole way.
func (b *browser) arrive() *answer { b.w.t.Helper(); return b.back(b.begin()) }

// login logs in with a password.
func (b *browser) login(user string) *browser {
	b.w.t.Helper()
	if a := b.post("/login", "usr", user, "pwd", password); a.status != http.StatusSeeOther {
		b.w.t.Fatalf("login of %s: %d %s", user, a.status, a.text)
	}
	return b
}

// who is the user of the browser's session; empty for nobody.
func (b *browser) who() string {
	b.w.t.Helper()
	if a := b.get("/app/accounts"); a.status != http.StatusOK {
		return ""
	}
	a := b.get("/api/method/framework.auth.get_logged_user")
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(a.text), `{"message":"`), `"}`)
}

// connect ties the provider's account to whoever is logged in.
func (b *browser) connect() *answer {
	b.w.t.Helper()
	return b.back(b.left(b.own("do", "connect", "provider", "Example")))
}

// own sends a form of the page of one's accounts.
func (b *browser) own(pairs ...string) *answer {
	b.w.t.Helper()
	if token := between(b.get("/app/accounts").text, `name="csrf_token" value="`, `"`); token != "" {
		b.token = token // the page has none where nothing can be changed
	}
	return b.post("/app/accounts", append(pairs, "csrf_token", b.token)...)
}

// gone deletes a document.
func (w *world) gone(path string) {
	w.t.Helper()
	if r := w.Admin.On(w.t).Delete(path); r.Status != http.StatusAccepted {
		w.t.Fatalf("delete %s: %d %s", path, r.Status, r.Text)
	}
}
