package social

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress/endpoint"
	"armature/core/fault"
	"armature/core/query"
)

// CallbackPath is where a provider sends people back to, before the key's name.
const CallbackPath = "/login/with/"

// flowLife is how long somebody has at the provider before the way back is closed.
const flowLife = 10 * time.Minute

// Wish is somebody's wish to log in with a key, or to tie an account to their user.
type Wish struct {
	Key    string
	To     string        // the path of this site where it leads afterwards; empty: home
	Factor bool          // a second factor has to be shown, whatever browser it is
	Tie    *auth.Browser // whose account it becomes; nil: it is a login
}

// Begun is a flow on its way.
type Begun struct {
	Address string        // of the provider, where the browser goes
	Cookie  string        // name of the cookie that has to come back with it
	Value   string        // of the cookie, sealed
	Lives   time.Duration // of the cookie
}

// ticket is what the browser keeps of a flow. It is sealed: nothing is written here before
// somebody has come back, so nobody fills a table by beginning.
type ticket struct {
	Key      string
	State    string
	Nonce    string
	Verifier string
	Issuer   string
	Redirect string
	To       string
	Until    int64 // seconds
	Factor   bool
	User     string // who ties an account; empty: it is a login
	Session  string // hash of the session in which that was begun
}

const ticketPurpose = "social login"

// Begin starts a flow. Errors: Missing for a key that there is not, or that is switched
// off; Permission (FreshLoginRequired) for who ties an account and has logged in too long
// ago; Unavailable and Timeout for a provider that does not answer.
func (s *Service) Begin(ctx context.Context, r *http.Request, w Wish) (*Begun, error) {
	k, err := s.key(ctx, w.Key)
	if err != nil {
		return nil, err
	}
	t := ticket{
		Key: k.name, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: w.To,
		Until: s.c.Now().Add(flowLife).Unix(), Factor: w.Factor, Redirect: s.c.Base(r) + CallbackPath + url.PathEscape(k.name),
	}
	if w.Tie != nil {
		if err := s.c.Auth.FreshBrowser(w.Tie); err != nil {
			return nil, err
		}
		t.User, t.Session = w.Tie.Caller.User, s.hashSession(w.Tie)
	}
	p, err := s.provider(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := s.way.Check(p.authorization); err != nil {
		return nil, err
	}
	t.Issuer = p.issuer
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(t.Verifier)}
	if k.kind != gitHub {
		options = append(options, oauth2.SetAuthURLParam("nonce", t.Nonce))
		if classes := k.classes(); classes != "" {
			options = append(options, oauth2.SetAuthURLParam("acr_values", classes))
		}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return &Begun{
		Address: p.config(k, t.Redirect).AuthCodeURL(t.State, options...),
		Cookie:  cookieOf(t.State), Value: s.c.Secret.Seal(ticketPurpose, text), Lives: flowLife,
	}, nil
}

// cookieOf is the name of the cookie of a flow: two that are begun beside each other do not
// push each other out.
func cookieOf(state string) string { return "social_" + state[:min(len(state), 8)] }

// Cookie is the name of the cookie in which the flow of an answer has its ticket; empty
// for an answer that is none.
func Cookie(q url.Values) string {
	state := q.Get("state")
	for _, r := range state {
		if (r < 'A' || r > 'Z') && (r < '2' || r > '7') {
			return ""
		}
	}
	if len(state) != len(rand.Text()) {
		return ""
	}
	return cookieOf(state)
}

func (s *Service) hashSession(b *auth.Browser) string {
	return hex.EncodeToString(s.c.Secret.MAC("social login session", b.Session+" "+b.Caller.User))
}

// Answer is what a provider's redirect has brought.
type Answer struct {
	Key     string
	Query   url.Values
	Ticket  string        // value of the cookie
	Browser *auth.Browser // who is logged in; nil: nobody
	From    auth.Remote
	Session string                   // that the browser brought along, which a login ends
	Known   func(user string) string // as in auth.Attempt
}

// Done is how a flow has ended.
type Done struct {
	To    string      // where it leads; empty: home
	Login *auth.Login // nil: an account was tied
}

// Finish ends a flow: with a login, or with an account that is tied. to is where the flow
// was to lead, also beside an error; a ticket is good once, whatever comes of it.
//
// Errors: Validation for an answer that belongs to no flow of this browser, is too late or
// comes twice, and for what the provider refused; Permission for an account that lets
// nobody in; those of auth.Service.LoginVouched; Unavailable and Timeout for a provider
// that does not answer.
func (s *Service) Finish(ctx context.Context, a Answer) (done Done, err error) {
	t, err := s.spend(ctx, a)
	if err != nil {
		return done, err
	}
	done.To = t.To
	k, err := s.key(ctx, t.Key)
	if err != nil {
		return done, err
	}
	p, err := s.provider(ctx, k)
	if err != nil {
		return done, err
	}
	// RFC 9207: the answer of another provider is not taken for this one's. A key that
	// was pointed elsewhere meanwhile ends what was begun.
	if p.issuer != t.Issuer || !p.answers(a.Query.Get("iss")) {
		return done, fault.Invalid("", "The answer is not of %s", k.name)
	}
	if code := a.Query.Get("error"); code != "" {
		return done, fault.Invalid("", "%s refused: %s", k.name, endpoint.Quoted(code, a.Query.Get("error_description")))
	}
	code := a.Query.Get("code")
	if code == "" {
		return done, wrongAnswer()
	}
	client := s.way.Client(false) // what a token endpoint is told is for it alone
	token, err := p.config(k, t.Redirect).Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), code, oauth2.VerifierOption(t.Verifier))
	if err != nil {
		return done, refused(k, err)
	}
	who, err := s.person(ctx, k, p, token, t.Nonce)
	if err != nil {
		return done, err
	}
	if t.User != "" {
		return done, s.tie(ctx, k, who, t, a)
	}
	done.Login, err = s.login(ctx, k, who, t, a)
	return done, err
}

func wrongAnswer() error {
	return fault.Invalid("", "This is not the answer to a login that was begun in this browser, or its time is over. Begin again.")
}

// spend opens the ticket of a flow and sees to it that it is good once, in whichever
// process it comes back.
func (s *Service) spend(ctx context.Context, a Answer) (*ticket, error) {
	for _, key := range []string{"state", "code", "iss", "error"} {
		if len(a.Query[key]) > 1 {
			return nil, wrongAnswer()
		}
	}
	var t ticket
	text, err := s.c.Secret.Open(ticketPurpose, a.Ticket)
	if err != nil || json.Unmarshal(text, &t) != nil {
		return nil, wrongAnswer()
	}
	if subtle.ConstantTimeCompare([]byte(t.State), []byte(a.Query.Get("state"))) != 1 || t.Key != a.Key || t.Until <= s.c.Now().Unix() {
		return nil, wrongAnswer()
	}
	if t.User != "" && (a.Browser == nil || a.Browser.Caller.User != t.User || s.hashSession(a.Browser) != t.Session) {
		return nil, wrongAnswer()
	}
	err = s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if err := s.sweep(ctx, tx); err != nil {
			return err
		}
		return s.insert(ctx, tx, tables().spent, hex.EncodeToString(s.c.Secret.MAC("social login state", t.State)), map[string]any{"expires": t.Until})
	})
	if fault.KindOf(err) == fault.Conflict {
		return nil, wrongAnswer()
	}
	return &t, err
}

// Sweep clears away what is past its time. Several servers may do it at once.
func (s *Service) Sweep(ctx context.Context) error {
	return s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return s.sweep(ctx, tx) })
}

// maxSwept bounds how many rows a flow clears away.
const maxSwept = 50

func (s *Service) sweep(ctx context.Context, tx document.Tx) error {
	dt := tables().spent
	names, err := s.names(ctx, tx, dt, doctype.Compare{Operand: doctype.Operand{Field: dt.Field("expires")}, Op: query.Lt, Value: s.c.Now().Unix()}, maxSwept)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tx.Delete(ctx, s.c.Catalog.Schema(), dt, name); err != nil {
			return err
		}
	}
	return nil
}

// refused is why a token endpoint gave no token.
func refused(k *key, err error) error {
	var r *oauth2.RetrieveError
	if errors.As(err, &r) && r.ErrorCode != "" {
		return fault.Wrap(fault.Validation, "", err, "%s refused: %s", k.name, endpoint.Quoted(r.ErrorCode, r.ErrorDescription))
	}
	return endpoint.Failure(err, "%s gave an answer that is no token", k.name)
}
