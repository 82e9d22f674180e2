package httpapi

import (
	"net/http"
	"strings"
)

// challenge is the WWW-Authenticate of a 401 (RFC 6750 section 3). It never
// names Basic: browsers would open a password dialog over the page.
func challenge(r *http.Request) string {
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return `Bearer error="invalid_token"`
	}
	return "Bearer"
}

func insufficientScope(scope string) string {
	return `Bearer error="insufficient_scope", scope="` + strings.NewReplacer(`"`, "", `\`, "").Replace(scope) + `"`
}

// sessionCookies are those a login sets.
var sessionCookies = []string{"sid", "system_user", "full_name", "user_id", "user_image", "user_lang"}

// clearSession makes the browser forget a session that is not accepted.
func (x *exchange) clearSession() {
	if _, err := x.r.Cookie("sid"); err != nil {
		return
	}
	for _, name := range sessionCookies {
		http.SetCookie(&x.w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: name == "sid", SameSite: http.SameSiteLaxMode})
	}
}
