package oauthstore_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/oauth/oauthstore"
)

const (
	user   = "zoe@example.com"
	client = "a client"
)

// kit is a store with a clock that is set, and what it has told.
type kit struct {
	*oauthstore.Store
	t       *testing.T
	site    *documenttest.Site
	grace   time.Duration
	changed int      // how often every process was told to forget tokens
	reused  []string // grants that ended because of a reuse
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, site: documenttest.New(t, document.ServiceConfig{})}
	k.Store = oauthstore.New(oauthstore.Config{
		Store: k.site.Store, Catalog: doctype.NewCatalog(k.site.Documents.Schema()), Now: func() time.Time { return k.site.Now },
		Lifetimes: func(context.Context) (oauthstore.Lifetimes, error) {
			return oauthstore.Lifetimes{Code: time.Minute, Access: time.Hour, Refresh: 24 * time.Hour, Grace: k.grace}, nil
		},
		Client: func(_ context.Context, id string) (fosite.Client, error) {
			if id != client {
				return nil, fosite.ErrNotFound
			}
			return &fosite.DefaultClient{ID: id}, nil
		},
		Changed: func(context.Context, document.Tx) error { k.changed++; return nil },
		Reused: func(_ context.Context, _ document.Tx, g *oauthstore.Grant) error {
			k.reused = append(k.reused, g.ID)
			return nil
		},
	})
	return k
}

// code stores a code, as the authorization endpoint does.
func (k *kit) code(signature, grant string, change func(*oauthstore.Session)) {
	k.t.Helper()
	session := oauthstore.NewSession(user)
	session.RedirectURI, session.RedirectSent = "https://client.example/cb", true
	if change != nil {
		change(session)
	}
	if err := k.CreateAuthorizeCodeSession(k.t.Context(), signature, request(grant, session)); err != nil {
		k.t.Fatal(err)
	}
}

func request(grant string, session *oauthstore.Session) *fosite.Request {
	return &fosite.Request{
		ID: grant, Client: &fosite.DefaultClient{ID: client}, Session: session, Form: url.Values{},
		GrantedScope: fosite.Arguments{"openid", "all"}, RequestedScope: fosite.Arguments{"openid", "all"},
	}
}

// redeem exchanges a code, as fosite's handlers do: what is read, then a transaction.
func (k *kit) redeem(code, access, refresh string) error {
	session := oauthstore.NewSession("")
	r, err := k.GetAuthorizeCodeSession(k.t.Context(), code, session)
	if err != nil {
		return err
	}
	return k.commit(func(ctx context.Context) error {
		return errors.Join(k.InvalidateAuthorizeCodeSession(ctx, code), k.CreateAccessTokenSession(ctx, access, r),
			k.CreateRefreshTokenSession(ctx, refresh, access, r))
	})
}

// refresh exchanges a refresh token.
func (k *kit) refresh(old, access, refresh string) error {
	r, err := k.GetRefreshTokenSession(k.t.Context(), old, oauthstore.NewSession(""))
	if err != nil {
		return err
	}
	return k.commit(func(ctx context.Context) error {
		return errors.Join(k.RotateRefreshToken(ctx, r.GetID(), old), k.CreateAccessTokenSession(ctx, access, r),
			k.CreateRefreshTokenSession(ctx, refresh, access, r))
	})
}

func (k *kit) commit(fn func(ctx context.Context) error) error {
	ctx, err := k.BeginTX(k.t.Context())
	if err != nil {
		return err
	}
	if err := fn(ctx); err != nil {
		return errors.Join(err, k.Rollback(ctx))
	}
	return k.Commit(ctx)
}

func (k *kit) counts(access string) bool {
	k.t.Helper()
	token, err := k.Access(k.t.Context(), access)
	if err != nil {
		k.t.Fatal(err)
	}
	return token != nil
}

func (k *kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// What goes with a code comes out of it again: to the handlers of the code, of PKCE and
// of OpenID Connect.
func TestCode(t *testing.T) {
	k := newKit(t)
	wrote := false
	k.code("code", "grant", func(s *oauthstore.Session) {
		s.Challenge, s.ChallengeMethod, s.Nonce, s.AuthTime = "challenge", "S256", "nonce", 42
		s.Scopes, s.Resources = []string{"openid", "all"}, []string{"https://site.example/api"}
		s.Also = func(context.Context, document.Tx) error { wrote = true; return nil }
	})
	if !wrote {
		t.Error("what is written with a code was not")
	}
	session := oauthstore.NewSession("")
	session.Issuer = "https://site.example"
	r, err := k.GetAuthorizeCodeSession(t.Context(), "code", session)
	k.must(err)
	if r.GetID() != "grant" || r.GetClient().GetID() != client || r.GetRequestForm().Get("redirect_uri") != "https://client.example/cb" {
		t.Errorf("%+v", r)
	}
	if session.Subject != user || session.Nonce != "nonce" || session.AuthTime != 42 || session.Issuer != "https://site.example" ||
		!slices.Equal(session.Resources, []string{"https://site.example/api"}) || !slices.Equal(session.Scopes, []string{"openid", "all"}) {
		t.Errorf("%+v", session)
	}
	proof, err := k.GetPKCERequestSession(t.Context(), "code", session)
	k.must(err)
	if form := proof.GetRequestForm(); form.Get("code_challenge") != "challenge" || form.Get("code_challenge_method") != "S256" {
		t.Errorf("%v", form)
	}
	id, err := k.GetOpenIDConnectSession(t.Context(), "", request("grant", session))
	k.must(err)
	if got := id.GetSession().(*oauthstore.Session); got.Nonce != "nonce" || got.Issuer != "https://site.example" {
		t.Errorf("%+v", got)
	}
	k.site.Now = k.site.Now.Add(time.Hour)
	if _, err := k.GetAuthorizeCodeSession(t.Context(), "code", session); err != nil {
		t.Errorf("a code expires while it is redeemed: %v", err)
	}
	if _, err := k.GetAuthorizeCodeSession(t.Context(), "code", oauthstore.NewSession("")); !errors.Is(err, fosite.ErrNotFound) {
		t.Errorf("a code that is too old: %v", err)
	}
	if _, err := k.GetAuthorizeCodeSession(t.Context(), "another", oauthstore.NewSession("")); !errors.Is(err, fosite.ErrNotFound) {
		t.Errorf("a code that nobody has: %v", err)
	}
}

// A code without a challenge has none, and without the scope openid there is no ID
// token.
func TestPlainCode(t *testing.T) {
	k := newKit(t)
	session := oauthstore.NewSession(user)
	r := request("grant", session)
	r.GrantedScope = fosite.Arguments{"all"}
	k.must(k.CreateAuthorizeCodeSession(t.Context(), "code", r))
	read := oauthstore.NewSession("")
	if _, err := k.GetPKCERequestSession(t.Context(), "code", read); !errors.Is(err, fosite.ErrNotFound) {
		t.Errorf("a challenge: %v", err)
	}
	if _, err := k.GetOpenIDConnectSession(t.Context(), "", request("grant", read)); !errors.Is(err, openid.ErrNoSessionFound) {
		t.Errorf("an ID token: %v", err)
	}
	if _, err := k.GetOpenIDConnectSession(t.Context(), "", request("grant", oauthstore.NewSession(""))); !errors.Is(err, openid.ErrNoSessionFound) {
		t.Errorf("an ID token of no code: %v", err)
	}
}

// A code is redeemed once; whoever does so again ends what was issued for it.
func TestCodeOnce(t *testing.T) {
	k := newKit(t)
	k.code("code", "grant", nil)
	if k.counts("access") {
		t.Error("a token before the code was redeemed")
	}
	k.must(k.redeem("code", "access", "refresh"))
	token, err := k.Access(t.Context(), "access")
	k.must(err)
	if token == nil || token.Grant != "grant" || token.Client != client || token.User != user || !slices.Equal(token.Scopes, []string{"openid", "all"}) {
		t.Fatalf("%+v", token)
	}
	r, err := k.GetAuthorizeCodeSession(t.Context(), "code", oauthstore.NewSession(""))
	if !errors.Is(err, fosite.ErrInvalidatedAuthorizeCode) || r == nil {
		t.Fatalf("used before: %v, %v", r, err)
	}
	k.must(k.RevokeAccessToken(t.Context(), r.GetID())) // as fosite does then
	k.must(k.RevokeRefreshToken(t.Context(), r.GetID()))
	if k.counts("access") || !slices.Equal(k.reused, []string{"grant"}) || k.changed != 1 {
		t.Errorf("reuse of %v was told, %d changes", k.reused, k.changed)
	}
	if _, err := k.GetRefreshTokenSession(t.Context(), "refresh", nil); !errors.Is(err, fosite.ErrNotFound) {
		t.Errorf("a refresh token of a grant that has ended: %v", err)
	}
}

// Of many who redeem one code at once one gets tokens, until the others are noticed:
// then nobody has any.
func TestCodeRace(t *testing.T) {
	k := newKit(t)
	k.code("code", "grant", nil)
	const many = 4
	ready := make([]fosite.Requester, many)
	for i := range ready {
		r, err := k.GetAuthorizeCodeSession(t.Context(), "code", oauthstore.NewSession(""))
		k.must(err)
		ready[i] = r
	}
	errs := make([]error, many)
	var group sync.WaitGroup
	for i, r := range ready {
		group.Go(func() {
			name := string(rune('a' + i))
			errs[i] = k.commit(func(ctx context.Context) error {
				return errors.Join(k.InvalidateAuthorizeCodeSession(ctx, "code"), k.CreateAccessTokenSession(ctx, name, r))
			})
		})
	}
	group.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, oauthstore.ErrSpent) {
			t.Error(err)
		}
	}
	if won != 1 || !slices.Equal(k.reused, []string{"grant"}) {
		t.Errorf("%d have redeemed it, reuse told of %v", won, k.reused)
	}
}

// A refresh spends its token and takes the access tokens back; the used one once more
// ends the grant when there is no grace.
func TestRefresh(t *testing.T) {
	k := newKit(t)
	k.code("code", "grant", nil)
	k.must(k.redeem("code", "a1", "r1"))
	k.must(k.refresh("r1", "a2", "r2"))
	if k.counts("a1") || !k.counts("a2") || k.changed != 1 {
		t.Errorf("after a refresh: %v %v, %d changes", k.counts("a1"), k.counts("a2"), k.changed)
	}
	if token, err := k.Refresh(t.Context(), "r2"); err != nil || token == nil || !token.Refresh {
		t.Errorf("%+v, %v", token, err)
	}
	if token, err := k.Refresh(t.Context(), "r1"); err != nil || token != nil {
		t.Errorf("a used one: %+v, %v", token, err)
	}
	r, err := k.GetRefreshTokenSession(t.Context(), "r1", oauthstore.NewSession(""))
	if !errors.Is(err, fosite.ErrInactiveToken) || r == nil || r.GetID() != "grant" {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := k.GetAccessTokenSession(t.Context(), "r2", nil); !errors.Is(err, fosite.ErrNotFound) {
		t.Errorf("a refresh token as an access token: %v", err)
	}
	if r, err := k.GetAccessTokenSession(t.Context(), "a2", nil); err != nil || !slices.Equal(r.GetGrantedScopes(), []string{"openid", "all"}) {
		t.Errorf("%v, %v", r, err)
	}
	if err := k.RotateRefreshToken(t.Context(), "grant", "r1"); !errors.Is(err, oauthstore.ErrSpent) {
		t.Errorf("rotated again: %v", err)
	}
}

// Within the grace a used token is good once more, and is exchanged for the latest of its line.
func TestGrace(t *testing.T) {
	k := newKit(t)
	k.grace = 10 * time.Second
	k.code("code", "grant", nil)
	k.must(k.redeem("code", "a1", "r1"))
	k.must(k.refresh("r1", "a2", "r2"))
	k.must(k.refresh("r1", "a3", "r2"))
	if !k.counts("a2") || !k.counts("a3") {
		t.Error("a repeat takes tokens back")
	}
	same := func(token string) string { return token }
	next := func(token string) string { return "r" + string(token[1]+1) }
	latest := func(want string) {
		t.Helper()
		got, err := k.Latest(t.Context(), "r1", same, next)
		if err != nil || got != want {
			t.Errorf("the latest is %s, want %s, %v", got, want, err)
		}
	}
	latest("r1")
	k.must(k.refresh("r2", "a4", "r3"))
	latest("r2")
	if err := k.refresh("r1", "a5", "r2"); !errors.Is(err, oauthstore.ErrSuperseded) {
		t.Errorf("exchanged for a token that was used: %v", err)
	}
	k.site.Now = k.site.Now.Add(11 * time.Second)
	latest("r1")
	if _, err := k.GetRefreshTokenSession(t.Context(), "r1", nil); !errors.Is(err, fosite.ErrInactiveToken) {
		t.Errorf("past the grace: %v", err)
	}
}

// A grant is listed while it counts, is ended once, and takes what was issued under it
// along; a client's or a user's go together, codes on their way included.
func TestGrants(t *testing.T) {
	k := newKit(t)
	for _, n := range []string{"1", "2", "3"} {
		k.code("code"+n, "grant"+n, nil)
		k.must(k.redeem("code"+n, "a"+n, "r"+n))
	}
	k.must(k.Touch(t.Context(), "grant1", 4711))
	ids := func() (ids []string) {
		t.Helper()
		all, err := k.Grants(t.Context(), "user", user)
		k.must(err)
		for _, g := range all {
			ids = append(ids, g.ID)
		}
		slices.Sort(ids)
		return ids
	}
	if got := ids(); !slices.Equal(got, []string{"grant1", "grant2", "grant3"}) {
		t.Errorf("grants %v", got)
	}
	if token, err := k.Any(t.Context(), "nothing", "r1"); err != nil || token == nil || token.Grant != "grant1" || token.LastUsed != 4711 {
		t.Errorf("%+v, %v", token, err)
	}
	told := 0
	end := func() error {
		return k.End(t.Context(), "grant1", func(context.Context, document.Tx, *oauthstore.Grant) error { told++; return nil })
	}
	k.must(errors.Join(end(), end()))
	if g, err := k.Grant(t.Context(), "grant1"); told != 1 || k.counts("a1") || g != nil || err != nil {
		t.Errorf("told %d times, %+v, %v", told, g, err)
	}
	if g, err := k.Grant(t.Context(), "grant2"); err != nil || g == nil || g.Client != client {
		t.Errorf("%+v, %v", g, err)
	}
	k.code("code4", "grant4", nil)
	k.must(k.site.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		n, err := k.EndAll(t.Context(), tx, "client", client)
		if n != 2 {
			t.Errorf("%d grants ended", n)
		}
		return err
	}))
	if got := ids(); len(got) > 0 || k.counts("a2") {
		t.Errorf("left %v", got)
	}
	if err := k.redeem("code4", "a4", "r4"); !errors.Is(err, fosite.ErrInvalidatedAuthorizeCode) {
		t.Errorf("a code of a client that was thrown out: %v", err)
	}
	if token, err := k.Any(t.Context(), "r2"); err != nil || token != nil {
		t.Errorf("%+v, %v", token, err)
	}
}

// What is past use goes, and not earlier than its reuse would be noticed.
func TestSweep(t *testing.T) {
	k := newKit(t)
	k.code("code", "grant", nil)
	k.must(k.redeem("code", "access", "refresh"))
	for _, tt := range []struct {
		later time.Duration
		want  int
	}{
		{2 * time.Hour, 0}, {24 * time.Hour, 2}, // the code, a day after it ended; the access token
		{24 * time.Hour, 2}, {24 * time.Hour, 0},
	} {
		k.site.Now = k.site.Now.Add(tt.later)
		if n, err := k.Sweep(t.Context()); err != nil || n != tt.want {
			t.Errorf("%d rows, want %d, %v", n, tt.want, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Sweep(ended); err == nil {
		t.Error("swept after its context ended")
	}
}

// What fosite did not commit has not happened.
func TestRollback(t *testing.T) {
	k := newKit(t)
	k.code("code", "grant", nil)
	r, err := k.GetAuthorizeCodeSession(t.Context(), "code", oauthstore.NewSession(""))
	k.must(err)
	ctx, err := k.BeginTX(t.Context())
	k.must(err)
	k.must(errors.Join(k.InvalidateAuthorizeCodeSession(ctx, "code"), k.CreateAccessTokenSession(ctx, "access", r), k.Rollback(ctx), k.Commit(ctx)))
	if k.counts("access") {
		t.Error("a token of a transaction that was rolled back")
	}
	if err := k.Commit(t.Context()); err == nil {
		t.Error("committed without a transaction")
	}
	if err := k.CreateAccessTokenSession(t.Context(), "x", &fosite.Request{Session: &fosite.DefaultSession{}}); err == nil {
		t.Error("a session of another type is taken")
	}
	k.must(k.redeem("code", "access", "refresh"))
}
