package connectedapp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"armature/core/access"
	"armature/core/document"
	"armature/core/egress/endpoint"
	"armature/core/fault"
	"armature/core/identity"
)

// flowLife is how long a user has at the provider before the way back is closed.
const flowLife = 15 * time.Minute

// Begin starts a flow and returns where the user's browser has to go. user, when
// not empty, is whom the connection is for: anybody but the caller only for a
// System Manager, and it is that user who has to follow the address. success is
// a path of this site to come back to, origin the address under which the
// caller has reached the site.
//
// Errors: Denied for Guest and for who may not read the app; Validation for an
// app that is not complete; Unavailable and Timeout for a provider that does not
// answer.
func (s *Service) Begin(ctx context.Context, caller *identity.Caller, appID, user, success, origin string) (string, error) {
	user, err := whom(caller, user)
	if err != nil {
		return "", err
	}
	if err := s.admitChange(ctx, caller, appID); err != nil {
		return "", err
	}
	if success, err = s.localPath(success, origin); err != nil {
		return "", err
	}
	a, err := s.app(ctx, appID)
	if err != nil {
		return "", err
	}
	p, err := s.provider(ctx, a)
	if err != nil {
		return "", err
	}
	if p.authorization == "" {
		return "", fault.Invalid("", "%s has neither an Authorization URI nor an OpenID Configuration that names one", a.providerName)
	}
	if err := s.way.Check(p.authorization); err != nil {
		return "", err
	}
	if a.redirectURI == "" {
		a.redirectURI = origin + callbackPath + url.PathEscape(a.name)
	}
	config, err := a.config(p)
	if err != nil {
		return "", err
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, stored, err := s.row(ctx, tx, a, user)
		if err != nil {
			return err
		}
		doc.Put("state", s.hashState(doc.Name(), state))
		doc.Put("state_expires", s.now().Add(flowLife).Unix())
		doc.Put("code_verifier", s.secret.Seal(purposeToken(doc.Name(), "code_verifier"), []byte(verifier)))
		doc.Put("redirect_uri", a.redirectURI)
		doc.Put("success_uri", success)
		doc.Put("provider_name", a.providerName)
		return s.save(ctx, tx, doc, stored)
	})
	if err != nil {
		return "", err
	}
	return config.AuthCodeURL(state, append(a.query, oauth2.S256ChallengeOption(verifier))...), nil
}

// Finish is the way back: q is what the provider's redirect carried. It returns
// the path of this site that the flow was begun with.
//
// Errors: Denied for Guest; Validation for a state that is not the one of the
// caller's flow with this app, is past its time or was used, and for what the
// provider refused; Unavailable and Timeout for a provider that does not answer.
func (s *Service) Finish(ctx context.Context, caller *identity.Caller, appID string, q url.Values) (string, error) {
	user, err := whom(caller, "")
	if err != nil {
		return "", err
	}
	for _, key := range []string{"state", "code", "iss", "error"} {
		if len(q[key]) > 1 {
			return "", fault.Invalid("", "Invalid Parameters.")
		}
	}
	f, err := s.spend(ctx, name(appID, user), q.Get("state"))
	if err != nil {
		return "", err
	}
	a, err := s.app(ctx, appID)
	if err != nil {
		return "", err
	}
	p, err := s.provider(ctx, a)
	if err != nil {
		return "", err
	}
	// RFC 9207: the answer of another provider is not taken for this one's.
	if !p.answers(q.Get("iss")) {
		return "", fault.Invalid("", "The answer is not of %s", a.providerName)
	}
	if code := q.Get("error"); code != "" {
		return "", fault.Invalid("", "%s refused: %s", a.providerName, endpoint.Quoted(code, q.Get("error_description")))
	}
	if q.Get("code") == "" {
		return "", fault.Invalid("", "Invalid Parameters.")
	}
	a.redirectURI = f.redirectURI
	config, err := a.config(p)
	if err != nil {
		return "", err
	}
	client, err := s.tokenClient(p)
	if err != nil {
		return "", err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), q.Get("code"), oauth2.VerifierOption(f.verifier))
	if err != nil {
		return "", refused(a, err)
	}
	err = s.keep(ctx, func(ctx context.Context, tx document.Tx) error {
		doc, stored, err := s.row(ctx, tx, a, user)
		if err != nil {
			return err
		}
		doc.Put("refresh_token", nil) // of another consent, perhaps of another account
		if err := s.put(doc, a, token); err != nil {
			return err
		}
		return s.save(ctx, tx, doc, stored)
	})
	if err != nil {
		return "", err
	}
	return f.success, nil
}

// flow is what a state leads back to.
type flow struct{ verifier, success, redirectURI string }

// spend ends the flow that a state belongs to: a state is good once, whatever
// comes of it.
func (s *Service) spend(ctx context.Context, connection, state string) (*flow, error) {
	wrong := fault.Invalid("", "Invalid state: this is not the answer to a connection you have begun, or its time is over. Connect again.")
	if state == "" {
		return nil, wrong
	}
	dt, err := s.docType(cacheName)
	if err != nil {
		return nil, err
	}
	hash := s.hashState(connection, state)
	var sealed string
	f := &flow{}
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, s.catalog.Schema(), dt, connection, true)
		if fault.KindOf(err) == fault.NotFound {
			return wrong
		}
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(doc.Text("state")), []byte(hash)) != 1 || doc.Int("state_expires") < s.now().Unix() {
			return wrong
		}
		sealed, f.success, f.redirectURI = doc.Text("code_verifier"), doc.Text("success_uri"), doc.Text("redirect_uri")
		_, err = tx.UpdateIf(ctx, dt, connection, map[string]any{"state": hash},
			map[string]any{"state": nil, "state_expires": int64(0), "code_verifier": nil})
		return err
	})
	if err != nil {
		return nil, err
	}
	f.verifier, err = s.open(purposeToken(connection, "code_verifier"), sealed)
	return f, err
}

// hashState is what is stored of a state: it is bound to the connection, and
// with that to the user and the app.
func (s *Service) hashState(connection, state string) string {
	return hex.EncodeToString(s.secret.MAC("connected app state", connection+" "+state))
}

// whom is the user of a connection that a caller asks for.
func whom(caller *identity.Caller, user string) (string, error) {
	switch {
	case caller.IsGuest():
		return "", fault.Denied("Log in to use a Connected App")
	case user == "" || user == caller.User:
		return caller.User, nil
	case !caller.HasRole(identity.SystemManager) && !caller.Unchecked():
		return "", fault.Denied("Only a System Manager may speak for another user")
	}
	return user, nil
}

// admit refuses a caller who has not the right to the app.
func (s *Service) admit(ctx context.Context, caller *identity.Caller, appID string, right access.Right) error {
	if err := s.documents.Freshen(ctx, appName, nil); err != nil {
		return err
	}
	return s.store.Read(ctx, func(tx document.Tx) error {
		_, err := s.documents.As(caller, tx).Demand(ctx, appName, appID, right)
		return err
	})
}

// admitChange admits whoever may read the app to begin and end a connection of
// their own, but a narrowed token only with the scope to write.
func (s *Service) admitChange(ctx context.Context, caller *identity.Caller, appID string) error {
	if err := s.admit(ctx, caller, appID, access.Read); err != nil || !caller.Narrowed() {
		return err
	}
	anyRole := *caller
	anyRole.Elevated = true // which skips roles and no scope
	return s.admit(ctx, &anyRole, appID, access.Write)
}

// localPath is the page of this site to come back to. An address of another site
// would let whoever makes the link lead a user anywhere under our name.
func (s *Service) localPath(wish, origin string) (string, error) {
	for _, base := range []string{s.base(), origin} {
		if rest, ok := strings.CutPrefix(wish, base+"/"); ok && base != "" {
			wish = "/" + rest
			break
		}
	}
	if wish == "" {
		return "/app", nil
	}
	u, err := url.Parse(wish)
	if err != nil || !strings.HasPrefix(wish, "/") || strings.HasPrefix(wish, "//") || u.Host != "" || u.Scheme != "" ||
		strings.ContainsAny(wish, "\\\t\r\n ") || len(wish) > 2000 {
		return "", fault.Invalid("", "success_uri must be a path of this site")
	}
	return wish, nil
}

// refused is why a token endpoint gave no token.
func refused(a *app, err error) error {
	var r *oauth2.RetrieveError
	if errors.As(err, &r) && r.ErrorCode != "" {
		return fault.Wrap(fault.Validation, "", err, "%s refused: %s", a.providerName, endpoint.Quoted(r.ErrorCode, r.ErrorDescription))
	}
	return endpoint.Failure(err, "%s gave an answer that is no token", a.providerName)
}
