package oauthstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ory/fosite"

	"armature/core/doctype"
	"armature/core/document"
)

// forever is later than any code or token fosite looks at: whether one has
// expired is decided here, by the site's clock.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// CreateAccessTokenSession stores an access token.
func (s *Store) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	return s.createToken(ctx, signature, r, map[string]any{
		"kind": access, "scopes": strings.Join(r.GetGrantedScopes(), " "),
		"expires": s.c.Now().Add(lifetimes.Access).Unix(),
	})
}

// CreateRefreshTokenSession stores a refresh token, which goes with an access
// token. Its scopes are those of the grant, however few the access token has.
func (s *Store) CreateRefreshTokenSession(ctx context.Context, signature, accessSignature string, r fosite.Requester) error {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	return s.createToken(ctx, signature, r, map[string]any{
		"kind": refresh, "access_token": accessSignature,
		"expires": s.c.Now().Add(lifetimes.Refresh).Unix(),
	})
}

func (s *Store) createToken(ctx context.Context, signature string, r fosite.Requester, values map[string]any) error {
	session, err := sessionOf(r)
	if err != nil {
		return err
	}
	values["grant_id"], values["status"] = r.GetID(), active
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		return s.insert(ctx, tx, TokenName, signature, session.Subject, values)
	})
}

func sessionOf(r fosite.Requester) (*Session, error) {
	if session, ok := r.GetSession().(*Session); ok {
		return session, nil
	}
	return nil, fmt.Errorf("oauthstore: a session of type %T", r.GetSession())
}

// GetAccessTokenSession reads an access token that counts; fosite.ErrNotFound
// for any other.
func (s *Store) GetAccessTokenSession(ctx context.Context, signature string, into fosite.Session) (fosite.Requester, error) {
	return s.tokenRequest(ctx, access, signature, into)
}

// GetRefreshTokenSession reads a refresh token that counts. One that was used
// before is fosite.ErrInactiveToken, with the request; unless that was within the
// grace: then it is as good as new.
func (s *Store) GetRefreshTokenSession(ctx context.Context, signature string, into fosite.Session) (fosite.Requester, error) {
	return s.tokenRequest(ctx, refresh, signature, into)
}

func (s *Store) tokenRequest(ctx context.Context, kind, signature string, into fosite.Session) (fosite.Requester, error) {
	row, grant, err := s.token(ctx, kind, signature)
	if err != nil {
		return nil, err
	}
	if row == nil || grant == nil {
		return nil, fosite.ErrNotFound
	}
	session := NewSession(grant.Text("user"))
	session.Scopes = strings.Fields(grant.Text("scopes"))
	session.Resources = strings.Fields(grant.Text("resource"))
	session.AuthTime, session.Secretless = grant.Int("auth_time"), grant.Bool("secretless")
	scopes := session.Scopes
	expires := fosite.RefreshToken
	if kind == access {
		scopes, expires = strings.Fields(row.Text("scopes")), fosite.AccessToken
	}
	session.SetExpiresAt(expires, forever)
	request, err := s.request(ctx, grant, grant.Text("client"), fill(into, session), scopes)
	if err != nil {
		return nil, err
	}
	if row.Text("status") == active {
		return request, nil
	}
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil || s.mayRepeat(row, lifetimes) {
		return request, err
	}
	return request, fosite.ErrInactiveToken
}

// token reads a token of a kind and its grant; nil when it does not count, be it
// unknown, of the other kind, expired, or of a grant that has ended. An access
// token that was taken back does not count; a refresh token that was used does.
func (s *Store) token(ctx context.Context, kind, signature string) (row, grant *doctype.Document, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		if row, err = s.get(ctx, tx, TokenName, signature, false); err != nil || row == nil {
			return err
		}
		if row.Text("kind") != kind || row.Int("expires") <= s.c.Now().Unix() || kind == access && row.Text("status") != active {
			row = nil
			return nil
		}
		grant, err = s.get(ctx, tx, GrantName, row.Text("grant_id"), false)
		if grant != nil && grant.Text("status") != active {
			grant = nil
		}
		return err
	})
	return row, grant, err
}

// mayRepeat reports whether a used refresh token may be used once more.
func (s *Store) mayRepeat(row *doctype.Document, l Lifetimes) bool {
	since := s.c.Now().UnixMilli() - row.Int("used_at")
	return row.Text("status") == used && since < l.Grace.Milliseconds() && row.Int("repeats") < MaxRepeats
}

// RotateRefreshToken spends a refresh token and takes back the access token that
// was issued with it. Within the grace it is spent again.
func (s *Store) RotateRefreshToken(ctx context.Context, grant, signature string) error {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		row, err := s.get(ctx, tx, TokenName, signature, true)
		if err != nil {
			return err
		}
		if row == nil {
			return fosite.ErrNotFound
		}
		again := row.Text("status") != active
		set := map[string]any{"status": used, "used_at": s.c.Now().UnixMilli()}
		if again {
			if !s.mayRepeat(row, lifetimes) {
				return &spentError{grant}
			}
			set = map[string]any{"repeats": row.Int("repeats") + 1}
		}
		ok, err := s.set(ctx, tx, TokenName, signature, map[string]any{"status": row.Text("status"), "repeats": row.Int("repeats")}, set)
		if err != nil {
			return err
		}
		if !ok {
			return &spentError{grant}
		}
		if err := s.prolong(ctx, tx, grant, lifetimes); err != nil || again {
			return err
		}
		return s.takeBack(ctx, tx, row.Text("access_token"))
	})
}

// prolong makes a grant live as long as its newest token; fosite.ErrNotFound when
// it has ended in the meantime, so that nothing is issued under it any more.
func (s *Store) prolong(ctx context.Context, tx document.Tx, grant string, lifetimes Lifetimes) error {
	now := s.c.Now()
	ok, err := s.set(ctx, tx, GrantName, grant, map[string]any{"status": active}, map[string]any{
		"last_used": now.Unix(), "expires": now.Add(max(lifetimes.Refresh, lifetimes.Access)).Unix(),
	})
	if err == nil && !ok {
		err = fosite.ErrNotFound
	}
	return err
}

// takeBack revokes one access token. Nobody needs to hear of one that has expired.
func (s *Store) takeBack(ctx context.Context, tx document.Tx, signature string) error {
	row, err := s.get(ctx, tx, TokenName, signature, false)
	if err != nil || row == nil || row.Text("status") != active || row.Int("expires") <= s.c.Now().Unix() {
		return err
	}
	if _, err := s.set(ctx, tx, TokenName, signature, map[string]any{"status": active}, map[string]any{"status": revoked}); err != nil {
		return err
	}
	return s.c.Changed(ctx, tx)
}

// DeleteAccessTokenSession and DeleteRefreshTokenSession do nothing: fosite calls
// them when it ends the grant as well, and the rows of what was used are kept, so
// that using it once more is noticed.
func (s *Store) DeleteAccessTokenSession(context.Context, string) error { return nil }

// DeleteRefreshTokenSession does nothing; see DeleteAccessTokenSession.
func (s *Store) DeleteRefreshTokenSession(context.Context, string) error { return nil }

// RevokeAccessToken ends the grant.
func (s *Store) RevokeAccessToken(ctx context.Context, grant string) error { return s.End(ctx, grant) }

// RevokeRefreshToken ends the grant.
func (s *Store) RevokeRefreshToken(ctx context.Context, grant string) error {
	return s.End(ctx, grant)
}
