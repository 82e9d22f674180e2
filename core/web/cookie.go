package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"armature/core/auth"
)

// defaultLanguage is that of a user who has chosen none: it is the one the pages
// are written in.
const defaultLanguage = "en"

// setCookies gives the browser a session, and beside it what scripts may show
// of the user (reference section 5.3).
func (p *Pages) setCookies(w http.ResponseWriter, r *http.Request, login *auth.Login) {
	desk := "no"
	if login.Caller.Desk {
		desk = "yes"
	}
	for _, c := range []struct{ name, value string }{
		{auth.SessionCookie(r), login.ID},
		{"system_user", desk},
		{"full_name", url.PathEscape(login.Caller.FullName)},
		{"user_id", url.PathEscape(login.Caller.User)},
		{"user_image", url.PathEscape(login.Image)},
		{"user_lang", url.PathEscape(cmp.Or(login.Language, defaultLanguage))},
	} {
		set(w.Header(), r, c.name, c.value, login.Lives)
	}
	if b := login.Browser; b != nil {
		set(w.Header(), r, secretCookie(r, p.auth.BrowserCookie(login.Caller.User)), b.Token, b.Lives)
	}
}

// shownCookies are the cookies beside that of the session.
var shownCookies = []string{"system_user", "full_name", "user_id", "user_image", "user_lang"}

// RenewCookies makes the cookies of a session that lives on live as long as it
// does: lives from now.
func RenewCookies(h http.Header, r *http.Request, session string, lives time.Duration) {
	set(h, r, auth.SessionCookie(r), session, lives)
	for _, name := range shownCookies {
		if c, err := r.Cookie(name); err == nil {
			set(h, r, name, c.Value, lives)
		}
	}
}

// ClearCookies makes the browser forget a session that is over or not accepted.
func ClearCookies(h http.Header, r *http.Request) {
	for _, name := range append([]string{auth.SessionCookie(r)}, shownCookies...) {
		set(h, r, name, "", -time.Second)
	}
}

// secretCookie is the name of a cookie that no script and no other host may have a
// hand in.
func secretCookie(r *http.Request, name string) string {
	if Secure(r) {
		return "__Host-" + name
	}
	return name
}

// brought is the value of a secret cookie; empty: there is none, or more than one.
func brought(r *http.Request, name string) string {
	found := r.CookiesNamed(secretCookie(r, name))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// shownCookie reports whether scripts may read a cookie.
func shownCookie(name string) bool { return slices.Contains(shownCookies, name) }

func set(h http.Header, r *http.Request, name, value string, lives time.Duration) {
	cookie := &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lives / time.Second),
		HttpOnly: !shownCookie(name), Secure: Secure(r), SameSite: http.SameSiteLaxMode,
	}
	h.Add("Set-Cookie", cookie.String())
}
