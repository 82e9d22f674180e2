package oauthstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ory/fosite"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// forever is later than any code or token fosite looks at: whether one has
// expired is decided here, by the site's clock.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// CreateAccessTokenSession stores an access token. The first one of a grant begins it.
func (s *Store) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	session, err := sessionOf(r)
	if err != nil {
		return err
	}
	values := map[string]any{
		"kind": access, "grant_id": r.GetID(), "status": active, "scopes": strings.Join(r.GetGrantedScopes(), " "),
		"resource": strings.Join(session.Targets, " "), "expires": s.c.Now().Add(lifetimes.Access).Unix(),
	}
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		if session.code != nil {
			if err := s.beginGrant(ctx, tx, session.code, lifetimes); err != nil {
				return err
			}
		}
		if session.Begins {
			if err := s.beginWithoutCode(ctx, tx, r, session, lifetimes); err != nil {
				return err
			}
		}
		return s.insert(ctx, tx, TokenName, signature, session.Subject, values)
	})
}

// CreateRefreshTokenSession stores a refresh token. Its scopes are those of the
// grant, however few the access token has. The successor of a token that is used
// again within the grace is there already, and stays as it is.
func (s *Store) CreateRefreshTokenSession(ctx context.Context, signature, _ string, r fosite.Requester) error {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	session, err := sessionOf(r)
	if err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		row, err := s.get(ctx, tx, TokenName, signature, true)
		switch {
		case err != nil:
			return err
		case row == nil:
			return s.insert(ctx, tx, TokenName, signature, session.Subject, map[string]any{
				"kind": refresh, "grant_id": r.GetID(), "status": active, "expires": s.c.Now().Add(lifetimes.Refresh).Unix(),
			})
		case row.Text("status") != active:
			return ErrSuperseded
		}
		return nil
	})
}

// ErrSuperseded is returned by Commit when the successor of a refresh token has
// been used while it was about to be handed out once more: there is a later one.
var ErrSuperseded = errors.New("the successor has been used meanwhile")

// maxLine bounds how many uses of a line are followed: more do not happen within a
// grace.
const maxLine = 100

// Latest follows the line of descent of a refresh token that is used again within
// the grace, and returns the last of it that has been used: what it is exchanged
// for once more is the token that lives on. Any other token is returned as it is.
func (s *Store) Latest(ctx context.Context, token string, signature, successor func(token string) string) (string, error) {
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return "", err
	}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		row, err := s.get(ctx, tx, TokenName, signature(token), false)
		for range maxLine {
			if err != nil || row == nil || !s.mayRepeat(row, lifetimes) {
				return err
			}
			next := successor(token)
			if row, err = s.get(ctx, tx, TokenName, signature(next), false); err != nil || row == nil || row.Text("status") != used {
				return err
			}
			token = next
		}
		return nil
	})
	return token, err
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
	session.AuthTime, session.Methods = grant.Int("auth_time"), strings.Fields(grant.Text("amr"))
	session.GrantType = grant.Text("grant_type")
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
	return row.Text("status") == used && since < l.Grace.Milliseconds()
}

// RotateRefreshToken spends a refresh token and takes back the access tokens that
// were issued before. Within the grace it is spent again; who has come within it
// and is late here, because others were served first, is as honest.
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
		if row.Text("status") != active {
			if lifetimes.Grace == 0 {
				return &spentError{grant}
			}
			return s.prolong(ctx, tx, grant, lifetimes)
		}
		ok, err := s.set(ctx, tx, TokenName, signature, map[string]any{"status": active},
			map[string]any{"status": used, "used_at": s.c.Now().UnixMilli()})
		if err != nil {
			return err
		}
		if !ok {
			return &spentError{grant}
		}
		if err := s.prolong(ctx, tx, grant, lifetimes); err != nil {
			return err
		}
		return s.takeBack(ctx, tx, grant)
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

// takeBack revokes the access tokens of a grant. Nobody needs to hear of those
// that have expired.
func (s *Store) takeBack(ctx context.Context, tx document.Tx, grant string) error {
	dt, err := s.docType(TokenName)
	if err != nil {
		return err
	}
	n, err := tx.Replace(ctx, dt, dt.Field("status"), doctype.AllOf{
		compare(dt, "grant_id", query.Eq, grant), compare(dt, "kind", query.Eq, access),
		compare(dt, "status", query.Eq, active), compare(dt, "expires", query.Gt, s.c.Now().Unix()),
	}, revoked)
	if err != nil || n == 0 {
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

// RevokeAccessToken ends the grant: fosite calls it and RevokeRefreshToken for a
// code or a refresh token that is used once more, and for nothing else that is on.
func (s *Store) RevokeAccessToken(ctx context.Context, grant string) error {
	return s.End(ctx, grant, s.c.Reused)
}

// RevokeRefreshToken ends the grant; see RevokeAccessToken.
func (s *Store) RevokeRefreshToken(ctx context.Context, grant string) error {
	return s.End(ctx, grant, s.c.Reused)
}
