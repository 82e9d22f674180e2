package web

import (
	"context"
	"net/http"
	"time"

	"armature/core/auth"
)

// request is a request as the site's authentication knows it.
type request struct {
	r       *http.Request
	session string // that the request has prolonged; empty: none
	lives   time.Duration
}

type requestKey struct{}

// Begin makes a context that knows where the request came from.
func Begin(ctx context.Context, r *http.Request) context.Context {
	v := &request{r: r}
	return auth.WithRequest(context.WithValue(ctx, requestKey{}, v), v)
}

// Remote implements auth.Request.
func (v *request) Remote() auth.Remote { return remote(v.r) }

// Used implements auth.Request.
func (v *request) Used(session string, lives time.Duration) { v.session, v.lives = session, lives }

// RenewSession has the browser keep the cookie of a session that the request of
// the context has prolonged. An answer that sets the cookie itself, as that of a
// login or a logout, has the last word.
func RenewSession(ctx context.Context, h http.Header) {
	v, ok := ctx.Value(requestKey{}).(*request)
	if ok && v.session != "" && len(h["Set-Cookie"]) == 0 {
		RenewCookies(h, v.r, v.session, v.lives)
	}
}
