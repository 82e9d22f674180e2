package sites

import (
	"context"
	"net/http"
	"time"

	"armature/core/auth"
	"armature/core/web"
)

// visit is a request as the site's authentication knows it.
type visit struct {
	r       *http.Request
	session string // that the request has prolonged; empty: none
	lives   time.Duration
}

type visitKey struct{}

// begin makes a context that knows where the request came from.
func begin(ctx context.Context, r *http.Request) context.Context {
	v := &visit{r: r}
	return auth.WithOrigin(context.WithValue(ctx, visitKey{}, v), v)
}

// Origin implements auth.From.
func (v *visit) Origin() auth.Origin { return web.Origin(v.r.RemoteAddr, v.r.Header) }

// Used implements auth.From.
func (v *visit) Used(session string, lives time.Duration) { v.session, v.lives = session, lives }

// renewSession has the browser keep the cookie of a session that the request of
// the context has prolonged. An answer that sets the cookie itself, as that of a
// login or a logout, has the last word.
func renewSession(ctx context.Context, h http.Header) {
	v, ok := ctx.Value(visitKey{}).(*visit)
	if ok && v.session != "" && len(h["Set-Cookie"]) == 0 {
		web.RenewCookies(h, v.r, v.session, v.lives)
	}
}
