package oauthstore

import (
	"context"
	"net/url"
	"strings"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// CreateAuthorizeCodeSession stores a code. All that PKCE and OpenID Connect want
// to keep of the request is in the session, so one row does.
func (s *Store) CreateAuthorizeCodeSession(ctx context.Context, signature string, r fosite.Requester) error {
	session, err := sessionOf(r)
	if err != nil {
		return err
	}
	lifetimes, err := s.c.Lifetimes(ctx)
	if err != nil {
		return err
	}
	values := map[string]any{
		"grant_id": r.GetID(), "client": r.GetClient().GetID(), "user": session.Subject, "validity": valid,
		"scopes": strings.Join(r.GetGrantedScopes(), " "), "resource": strings.Join(session.Resources, " "),
		"redirect_uri": session.RedirectURI, "redirect_uri_sent": flag(session.RedirectSent),
		"code_challenge": session.Challenge, "code_challenge_method": session.ChallengeMethod,
		"nonce": session.Nonce, "auth_time": session.AuthTime, "amr": strings.Join(session.Methods, " "),
		"expires": s.c.Now().Add(lifetimes.Code).Unix(),
	}
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		if err := s.insert(ctx, tx, CodeName, signature, session.Subject, values); err != nil || session.Also == nil {
			return err
		}
		return session.Also(ctx, tx)
	})
}

// GetAuthorizeCodeSession reads a code: fosite.ErrNotFound for one that is
// unknown or too old, fosite.ErrInvalidatedAuthorizeCode, with the request, for
// one that was redeemed before.
func (s *Store) GetAuthorizeCodeSession(ctx context.Context, signature string, into fosite.Session) (fosite.Requester, error) {
	row, err := s.code(ctx, signature, into)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, fosite.ErrNotFound
	}
	request, err := s.asked(ctx, row, into)
	if err == nil && row.Text("validity") != valid {
		err = fosite.ErrInvalidatedAuthorizeCode
	}
	return request, err
}

// asked is the request for a code.
func (s *Store) asked(ctx context.Context, row *doctype.Document, into fosite.Session) (*fosite.Request, error) {
	session := NewSession(row.Text("user"))
	session.Scopes = strings.Fields(row.Text("scopes"))
	session.Resources = strings.Fields(row.Text("resource"))
	session.AuthTime, session.Methods = row.Int("auth_time"), strings.Fields(row.Text("amr"))
	session.RedirectURI, session.RedirectSent = row.Text("redirect_uri"), row.Bool("redirect_uri_sent")
	session.Challenge, session.ChallengeMethod = row.Text("code_challenge"), row.Text("code_challenge_method")
	session.Nonce, session.code = row.Text("nonce"), row
	// The row says when the code ends, by the site's clock.
	session.SetExpiresAt(fosite.AuthorizeCode, forever)
	request, err := s.request(ctx, row, row.Text("client"), fill(into, session), session.Scopes)
	if err != nil {
		return nil, err
	}
	if session.RedirectSent {
		request.Form.Set("redirect_uri", session.RedirectURI)
	}
	return request, nil
}

// code reads the row of a code, nil for one that has expired, or takes it from the
// session that has it already.
func (s *Store) code(ctx context.Context, signature string, into fosite.Session) (row *doctype.Document, err error) {
	if session, ok := into.(*Session); ok && session != nil && session.code != nil && session.code.Name() == signature {
		return session.code, nil
	}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		row, err = s.get(ctx, tx, CodeName, signature, false)
		return err
	})
	if row != nil && row.Text("validity") == valid && row.Int("expires") <= s.c.Now().Unix() {
		row = nil
	}
	return row, err
}

// InvalidateAuthorizeCodeSession spends a code.
func (s *Store) InvalidateAuthorizeCodeSession(ctx context.Context, signature string) error {
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error {
		ok, err := s.set(ctx, tx, CodeName, signature, map[string]any{"validity": valid}, map[string]any{"validity": invalid})
		if err != nil || ok {
			return err
		}
		row, err := s.get(ctx, tx, CodeName, signature, false)
		if err != nil {
			return err
		}
		if row == nil {
			return fosite.ErrNotFound
		}
		return &spentError{row.Text("grant_id")}
	})
}

// beginGrant begins the grant of a code that has been spent.
func (s *Store) beginGrant(ctx context.Context, tx document.Tx, code *doctype.Document, lifetimes Lifetimes) error {
	now := s.c.Now()
	return s.insert(ctx, tx, GrantName, code.Text("grant_id"), code.Text("user"), map[string]any{
		"client": code.Text("client"), "user": code.Text("user"), "status": active, "scopes": code.Text("scopes"),
		"resource": code.Text("resource"), "auth_time": code.Int("auth_time"), "amr": code.Text("amr"),
		"last_used": now.Unix(), "expires": now.Add(max(lifetimes.Refresh, lifetimes.Access)).Unix(),
	})
}

// The kinds of grants that no authorization code begins (RFC 6749 section 4.4, RFC 8628
// section 3.4).
const (
	ClientCredentials = "client_credentials"
	DeviceCode        = "urn:ietf:params:oauth:grant-type:device_code"
)

// beginWithoutCode is beginGrant for a grant of another kind. One of a client's
// credentials has no refresh token, and ends with its access token.
func (s *Store) beginWithoutCode(ctx context.Context, tx document.Tx, r fosite.Requester, session *Session, lifetimes Lifetimes) error {
	now, lives := s.c.Now(), max(lifetimes.Refresh, lifetimes.Access)
	if session.GrantType == ClientCredentials {
		lives = lifetimes.Access
	}
	return s.insert(ctx, tx, GrantName, r.GetID(), session.Subject, map[string]any{
		"client": r.GetClient().GetID(), "user": session.Subject, "status": active, "scopes": strings.Join(session.Scopes, " "),
		"resource": strings.Join(session.Resources, " "), "auth_time": session.AuthTime, "amr": strings.Join(session.Methods, " "),
		"grant_type": session.GrantType, "last_used": now.Unix(), "expires": now.Add(lives).Unix(),
	})
}

// CreatePKCERequestSession does nothing: the code's row has the challenge.
func (s *Store) CreatePKCERequestSession(context.Context, string, fosite.Requester) error { return nil }

// GetPKCERequestSession returns the challenge of a code; fosite.ErrNotFound when
// it has none.
func (s *Store) GetPKCERequestSession(ctx context.Context, signature string, into fosite.Session) (fosite.Requester, error) {
	request, err := s.GetAuthorizeCodeSession(ctx, signature, into)
	if err != nil {
		return nil, err
	}
	session := request.GetSession().(*Session)
	if session.Challenge == "" {
		return nil, fosite.ErrNotFound
	}
	form := request.GetRequestForm()
	form.Set("code_challenge", session.Challenge)
	form.Set("code_challenge_method", session.ChallengeMethod)
	return request, nil
}

// DeletePKCERequestSession does nothing. fosite calls it before it checks the
// verifier: were the challenge gone then, the next try would need none.
func (s *Store) DeletePKCERequestSession(context.Context, string) error { return nil }

// CreateOpenIDConnectSession does nothing: the code's row has the nonce.
func (s *Store) CreateOpenIDConnectSession(context.Context, string, fosite.Requester) error {
	return nil
}

// GetOpenIDConnectSession returns the request of the code that is being redeemed,
// if it asked for an ID token. fosite passes the code itself, not its signature;
// the session knows which one it is.
func (s *Store) GetOpenIDConnectSession(ctx context.Context, _ string, r fosite.Requester) (fosite.Requester, error) {
	session, err := sessionOf(r)
	if err != nil {
		return nil, err
	}
	if session.code == nil {
		return nil, openid.ErrNoSessionFound
	}
	request, err := s.asked(ctx, session.code, session)
	if err != nil {
		return nil, err
	}
	for _, scope := range request.GetGrantedScopes() {
		if scope == "openid" {
			return request, nil
		}
	}
	return nil, openid.ErrNoSessionFound
}

// DeleteOpenIDConnectSession does nothing: the row goes with the code.
func (s *Store) DeleteOpenIDConnectSession(context.Context, string) error { return nil }

// request puts a request together that fosite goes on with.
func (s *Store) request(ctx context.Context, row *doctype.Document, client string, session fosite.Session, scopes []string) (*fosite.Request, error) {
	c, err := s.c.Client(ctx, client)
	if err != nil {
		return nil, err
	}
	id := row.Text("grant_id")
	if row.Type.Name == GrantName {
		id = row.Name()
	}
	return &fosite.Request{
		ID: id, RequestedAt: s.c.Now().UTC(), Client: c, Session: session, Form: url.Values{},
		RequestedScope: scopes, GrantedScope: scopes,
	}, nil
}

func missing(err error) bool { return fault.KindOf(err) == fault.NotFound }

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
