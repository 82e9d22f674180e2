package auth

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/proxy"
)

// The cookie that holds a session's id. Over TLS its name makes the browser refuse
// one that another host of the domain, or a page in clear text, tries to set
// (RFC 6265bis section 4.1.3.2), so there the bare name counts for nothing.
const (
	sessionCookie       = "sid"
	secureSessionCookie = "__Host-sid"
)

// SessionCookie is the name of the session's cookie where the browser is.
func SessionCookie(r *http.Request) string {
	if proxy.Secure(r) {
		return secureSessionCookie
	}
	return sessionCookie
}

// knownSession is a session that was looked up under the current epoch.
type knownSession struct {
	session
	lastUsed atomic.Int64
}

// bySession returns the user of the request's session, nil for none. An id that is
// unknown or has expired is no credential: the request goes on as if it carried
// none (reference section 5.4), so that a public page opens for who was logged in
// last month. What changes something must come from a page of this site
// (CSRFTokenError).
func (s *Service) bySession(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	id := SessionID(r)
	if id == "" {
		return nil, nil
	}
	e, err := s.session(ctx, id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		s.recordUnknown(ctx)
		return nil, nil
	}
	caller, err := s.sessionCaller(ctx, e)
	if err != nil || caller == nil {
		return nil, err
	}
	if err := s.checkOrigin(ctx, r, id, e.csrf); err != nil {
		return nil, err
	}
	return caller, nil
}

// sessionCaller is the user of a session, nil where the user may not act by it: one
// who was disabled a moment ago, and one who needs a second factor and has shown
// none, since the need came after the login.
func (s *Service) sessionCaller(ctx context.Context, e *knownSession) (*identity.Caller, error) {
	caller, err := s.Caller(ctx, e.user)
	if fault.KindOf(err) == fault.Authentication {
		return nil, nil
	}
	if err != nil || !e.shown.factor && s.needsFactor(caller) {
		return nil, err
	}
	if e.shown.factor {
		proved := *caller
		proved.Proved = true
		return &proved, nil
	}
	return caller, nil
}

// SessionID is the id of the session that a request acts by; empty when it carries
// none, or says by its Authorization header who makes it.
func SessionID(r *http.Request) string {
	if byHeader(r) {
		return ""
	}
	return BroughtSession(r)
}

// BroughtSession is the session's id that a request carries, for who is about to
// replace it; empty when it carries none. Of two the browser does not say which
// one this site has set, so none counts.
func BroughtSession(r *http.Request) string {
	if len(r.Header["Cookie"]) == 0 {
		return ""
	}
	found := r.CookiesNamed(SessionCookie(r))
	if len(found) != 1 || !sessionID(found[0].Value) {
		return ""
	}
	return found[0].Value
}

// hasSession reports whether a request claims to have a session, of any form.
// Clients of the reference send Guest where they have none.
func hasSession(r *http.Request) bool {
	if len(r.Header["Cookie"]) == 0 {
		return false
	}
	for _, c := range r.CookiesNamed(SessionCookie(r)) {
		if c.Value != "" && c.Value != identity.Guest {
			return true
		}
	}
	return false
}

// sessionID reports whether text can be a session's id.
func sessionID(text string) bool {
	if len(text) != 2*sessionBytes {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// session finds a session that counts, and notes that it is used; nil when there
// is none.
func (s *Service) session(ctx context.Context, id string) (*knownSession, error) {
	g, err := s.known.generation(ctx)
	if err != nil {
		return nil, err
	}
	name, now, idle := s.hashSession(id), s.now().Unix(), s.idle()
	e := g.session(name)
	if e == nil || !e.live(now, idle) {
		// Another process may have noted a later use than this one knows of.
		found, err := s.readSession(ctx, name)
		if err != nil {
			return nil, failed(err)
		}
		if found == nil {
			return nil, nil
		}
		e = &knownSession{session: *found}
		e.lastUsed.Store(found.lastUsed)
		if !e.live(now, idle) {
			return nil, nil
		}
		g.putSession(name, e)
	}
	if s.touch(ctx, name, e, now) {
		used(ctx, id, e.lives(now, idle))
	}
	return e, nil
}

func (e *knownSession) live(now int64, idle time.Duration) bool {
	current := e.session
	current.lastUsed = e.lastUsed.Load()
	return current.live(now, idle)
}

// touch notes the use of a session, now and then. Of many requests at once one
// does it. A database that cannot be written to shortens the session's life and
// fails nobody's request. It reports whether this request did it.
func (s *Service) touch(ctx context.Context, name string, e *knownSession, now int64) bool {
	last := e.lastUsed.Load()
	if now-last < int64(touchEvery/time.Second) || !e.lastUsed.CompareAndSwap(last, now) {
		return false
	}
	dt, err := s.docType(sessionName)
	if err != nil {
		return false
	}
	err = s.store.Write(ctx, document.OneWrite, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, dt, name, map[string]any{"user": e.user}, map[string]any{"last_used": now})
		return err
	})
	return err == nil
}
