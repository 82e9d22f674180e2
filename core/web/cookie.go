package web

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"armature/core/auth"
)

// defaultLanguage is that of a user who has chosen none: it is the one the pages
// are written in.
const defaultLanguage = "en"

// setCookies gives the browser a session, and beside it what scripts may show
// of the user (reference section 5.3).
func setCookies(w http.ResponseWriter, r *http.Request, login *auth.Login) {
	desk := "no"
	if login.Caller.Desk {
		desk = "yes"
	}
	for _, c := range []struct{ name, value string }{
		{auth.SessionCookie, login.ID},
		{"system_user", desk},
		{"full_name", url.PathEscape(login.Caller.FullName)},
		{"user_id", url.PathEscape(login.Caller.User)},
		{"user_image", url.PathEscape(login.Image)},
		{"user_lang", url.PathEscape(cmp.Or(login.Language, defaultLanguage))},
	} {
		set(w, r, c.name, c.value, int(login.Lives/time.Second))
	}
}

// clearCookies makes the browser forget a session.
func clearCookies(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{auth.SessionCookie, "system_user", "full_name", "user_id", "user_image", "user_lang"} {
		set(w, r, name, "", -1)
	}
}

func set(w http.ResponseWriter, r *http.Request, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: name == auth.SessionCookie, Secure: Secure(r), SameSite: http.SameSiteLaxMode,
	})
}
