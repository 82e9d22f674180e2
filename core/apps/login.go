package apps

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // of the script
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/proxy"
	"armature/core/route"
)

// A page in a sandbox can keep nothing: it has no storage, and each time it is loaded its
// origin is another one. So the site keeps for it what the code flow needs between leaving
// and coming back, the state and the PKCE verifier (RFC 7636), in a cookie that no script
// reads: a code that somebody has seen on its way is of no use in another browser. With the
// code the page gets the verifier, behind the #, which no server is sent.

const (
	loginPath    = "/-/login"
	callbackPath = "/-/callback"

	// loginTime is how long a user may take to log in and let the app in.
	loginTime = 15 * time.Minute
	purpose   = "login of an app"
	maxTo     = 1000 // bytes of the address within the app
	maxScope  = 1000
)

// ClientPrefix begins the id of the OAuth client that each app is.
const ClientPrefix = "plugin:"

// attempt is a login that was begun.
type attempt struct {
	App      string `json:"app"`
	State    string `json:"state"`
	Verifier string `json:"verifier"`
	To       string `json:"to"` // path within the app, and query
	Redirect string `json:"redirect"`
	Until    int64  `json:"until"`
}

//go:embed app.js
var script string

// platform finds what the site itself answers within an app.
func (v *visit) platform(name string) route.Handler {
	switch name {
	case "login":
		return v.login
	case "callback":
		sealed := v.cookie()
		return func(w http.ResponseWriter, r *http.Request, _ *route.Call) error { return v.callback(w, r, sealed) }
	case "app.js":
		return v.script
	}
	return func(http.ResponseWriter, *http.Request, *route.Call) error { return errMissing }
}

// cookieName is that of the cookie of a login. Over TLS its name keeps other hosts from
// setting it (RFC 6265bis, section 4.1.3.2).
func (v *visit) cookieName() string {
	if proxy.Secure(v.r) {
		return "__Host-login-" + v.app.Plugin
	}
	return "login-" + v.app.Plugin
}

// cookie is what the browser was given when it left; empty, where there are two of which
// one is somebody else's.
func (v *visit) cookie() string {
	if found := v.r.CookiesNamed(v.cookieName()); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

func (v *visit) setCookie(w http.ResponseWriter, value string, age time.Duration) {
	seconds := int(age / time.Second)
	if value == "" {
		seconds = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: v.cookieName(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: proxy.Secure(v.r),
	})
}

// login has the user asked whether the app may act for them, as far as the argument scope
// says. Afterwards they are at the address "to" within the app.
func (v *visit) login(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	q := r.URL.Query()
	to, ok := within(q.Get("to"))
	if r.Method != http.MethodGet || !ok || len(q.Get("scope")) > maxScope {
		return fault.Invalid("", "A login is begun by GET, with scope and with to, an address within the app")
	}
	at := ""
	if v.own {
		if at = v.s.c.Address(); at == "" {
			return fault.Invalid("", "The site does not know its own address: its setting host_name says it")
		}
	}
	a := attempt{
		App: v.app.Plugin, State: rand.Text(), Verifier: rand.Text() + rand.Text(), To: to,
		Redirect: v.origin + v.base + callbackPath, Until: v.s.c.Now().Add(loginTime).Unix(),
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	v.setCookie(w, v.s.c.Secret.Seal(purpose, text), loginTime)
	challenge := sha256.Sum256([]byte(a.Verifier))
	ask := url.Values{
		"client_id": {ClientPrefix + a.App}, "response_type": {"code"}, "redirect_uri": {a.Redirect}, "state": {a.State},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	if scope := q.Get("scope"); scope != "" {
		ask.Set("scope", scope)
	}
	return away(w, at+v.s.c.Authorize+"?"+ask.Encode())
}

// callback takes the user's answer, and shows the page it to which it is told.
func (v *visit) callback(w http.ResponseWriter, r *http.Request, sealed string) error {
	v.setCookie(w, "", 0)
	q := r.URL.Query()
	var a attempt
	text, err := v.s.c.Secret.Open(purpose, sealed)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil || a.App != v.app.Plugin || v.s.c.Now().Unix() > a.Until || subtle.ConstantTimeCompare([]byte(a.State), []byte(q.Get("state"))) != 1 {
		return fault.Invalid("", "This login was begun in another browser, or too long ago: begin it again")
	}
	tell := url.Values{}
	if code := q.Get("code"); code != "" {
		tell.Set("code", code)
		tell.Set("code_verifier", a.Verifier)
		tell.Set("redirect_uri", a.Redirect)
		tell.Set("client_id", ClientPrefix+a.App)
	} else {
		tell.Set("error", q.Get("error"))
		tell.Set("error_description", q.Get("error_description"))
	}
	return away(w, v.base+a.To+"#"+tell.Encode())
}

// script answers with a module that does the rest of the flow for the app's pages.
func (v *visit) script(w http.ResponseWriter, _ *http.Request, _ *route.Call) error {
	site := v.origin
	if v.own {
		site = v.s.c.Address()
	}
	quoted, err := json.Marshal(map[string]string{"site": site, "base": v.base, "token": v.s.c.Token})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, err = w.Write([]byte("const here = " + string(quoted) + ";\n" + script))
	return err
}

// within is an address within the app; ok is false for one that leads out of it, and to
// what the platform answers.
func within(to string) (address string, ok bool) {
	u, err := url.Parse(to)
	switch {
	case to == "":
		return "/", true
	case err != nil || len(to) > maxTo || u.IsAbs() || u.Host != "" || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(to, "//"),
		strings.ContainsAny(u.Path, "\\\x00\r\n\t"), strings.Contains(u.Path+"/", "/../"), strings.Contains(u.Path+"/", "/./"), strings.HasPrefix(u.Path+"/", "/-/"):
		return "", false
	}
	address = u.EscapedPath()
	if u.RawQuery != "" {
		address += "?" + u.RawQuery
	}
	return address, true
}

// away leads the browser on, and leaves nothing behind of where it was.
func away(w http.ResponseWriter, to string) error {
	h := w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
