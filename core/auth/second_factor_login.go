package auth

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// challengeLife is how long a password that was right may wait for its second factor.
const challengeLife = 10 * time.Minute

// Challenge is a login whose password was right and whose second factor is missing.
// It is an error of Login: who logs in is not in.
type Challenge struct {
	User  string
	Enrol bool   // the user needs a factor and has none: it is set up first
	App   bool   // the user has an authenticator app
	Token string // what FinishLogin goes on with, a secret; sealed, so that nothing is kept of it here
}

func (*Challenge) Error() string { return "the second factor is missing" }

// What a program is told that logs in: exc_type by which it knows to ask for a code.
const (
	factorMissing    = "SecondFactorRequired"
	enrolmentMissing = "SecondFactorEnrolmentRequired"
)

func (c *Challenge) fault() error {
	f := fault.Wrap(fault.Authentication, factorMissing, c,
		"A second factor is needed: send the code of the authenticator app, or a recovery code, as otp together with usr and pwd")
	if c.Enrol {
		f = fault.Wrap(fault.Authentication, enrolmentMissing, c, "A second factor is needed and none is set up: log in with a browser to set one up")
	}
	f.Quiet = true
	return f
}

// ticket is what the token of a challenge says.
type ticket struct {
	User     string
	Password string   // hash of the password's, which has to be the same still
	Until    int64    // seconds
	Factor   bool     // of Attempt
	By       []string `json:",omitempty"` // of entry
}

const ticketPurpose = "login that waits for a second factor"

// show finds out what a login has shown beside the password, or in its place, in the
// transaction that has locked the user. refused is an answer that the transaction is
// kept for: a Challenge, a wrong code, a passkey that is not taken.
func (s *Service) show(ctx context.Context, tx document.Tx, user *doctype.Document, login *Login, e *entry) (shown evidence, refused, err error) {
	if e.key != nil && e.key.alone {
		shown, refused, err = s.showPasskey(ctx, tx, user, e)
		return shown, refused, err
	}
	has, err := s.hasFactor(ctx, tx, user.Name())
	if err != nil {
		return shown, nil, err
	}
	if shown.amr = e.first(); e.vouched {
		return evidence{amr: append(shown.amr, byTwo), factor: true}, nil, nil
	}
	needed := s.needsFactor(login.Caller)
	switch {
	case !has && e.enrol != "":
		shown, err = s.enrolInLogin(ctx, tx, user.Name(), login, *e)
		return shown, nil, err
	case !has && e.made != nil:
		shown, err = s.keepInLogin(ctx, tx, user.Name(), login, *e)
		return shown, nil, err
	case !has && !needed:
		return shown, nil, nil
	case !has:
		return s.challenged(ctx, tx, user, *e, true)
	}
	if !e.Factor && e.Known != nil {
		if shown.factor, err = s.knowsBrowser(ctx, tx, user.Name(), e.Known(user.Name())); err != nil || shown.factor {
			return shown, nil, err
		}
	}
	return s.showFactor(ctx, tx, user, login, e)
}

// showFactor looks at the second factor of who has one.
func (s *Service) showFactor(ctx context.Context, tx document.Tx, user *doctype.Document, login *Login, e *entry) (shown evidence, refused, err error) {
	switch {
	case e.key != nil:
		shown, refused, err = s.showPasskey(ctx, tx, user, e)
	case e.Code == "":
		return s.challenged(ctx, tx, user, *e, false)
	default:
		shown = e.with(byCode)
		refused, err = s.checkCode(ctx, tx, user.Name(), e.Code, e.From)
	}
	if err != nil || refused != nil {
		return evidence{}, refused, err
	}
	if e.remember && s.Remembers() {
		login.Browser, err = s.rememberBrowser(ctx, tx, user.Name())
	}
	return shown, nil, err
}

// challenged asks for the second factor.
func (s *Service) challenged(ctx context.Context, tx document.Tx, user *doctype.Document, e entry, enrol bool) (evidence, error, error) {
	hash := user.Text("password_hash")
	if e.upgraded != "" {
		hash = e.upgraded
		if _, err := tx.UpdateIf(ctx, user.Type, user.Name(), map[string]any{}, map[string]any{"password_hash": hash}); err != nil {
			return evidence{}, nil, err
		}
	}
	text, err := json.Marshal(ticket{User: user.Name(), Password: s.hashTicket(hash), Until: s.now().Add(challengeLife).Unix(), Factor: e.Factor, By: e.by})
	if err != nil {
		return evidence{}, nil, err
	}
	c := &Challenge{User: user.Name(), Enrol: enrol, Token: s.secret.Seal(ticketPurpose, text)}
	return evidence{}, c.fault(), nil
}

func (s *Service) hashTicket(passwordHash string) string {
	return hex.EncodeToString(s.secret.MAC("password of a login", passwordHash))
}

// Finish is the second step of a login.
type Finish struct {
	Token    string // of the Challenge
	Code     string
	Remember bool // make the browser known
	Enrol    string

	Passkey *PasskeyAnswer // in place of the code; nil: none
	Make    *PasskeyAnswer // a passkey that is made on the way in, as Enrol is an app
	Title   string         // of that

	From    Remote
	Session string // as in Attempt
}

// FinishLogin checks the second factor of a login whose password was right. Errors:
// Gone where the token is none, is too old, or the password has changed: the login
// begins anew; Authentication for a wrong code; TooManyRequests after too many.
func (s *Service) FinishLogin(ctx context.Context, f Finish) (*Login, error) {
	t, err := s.ticket(f.Token)
	if err != nil {
		return nil, err
	}
	if f.Code == "" && f.Passkey == nil && f.Make == nil {
		return nil, refusal(wrongCode)
	}
	f.From = f.From.short()
	e := entry{
		Attempt: Attempt{From: f.From, Session: f.Session, Code: f.Code, Factor: true},
		user:    t.User, culprits: s.culprits(t.User, f.From), remember: f.Remember, by: t.By,
		same: func(hash string) bool { return equal(s.hashTicket(hash), t.Password) },
	}
	if f.Enrol != "" {
		if e.enrol, err = s.openEnrolment(f.Enrol, f.Token); err != nil {
			return nil, err
		}
	}
	if f.Passkey != nil {
		if e.key, err = s.proofOf(ctx, *f.Passkey, toProve, f.Token); err != nil {
			return nil, err
		}
	}
	if f.Make != nil {
		if e.made, err = s.checkMade(ctx, *f.Make, f.Title, f.Token); err != nil {
			return nil, err
		}
	}
	return s.begin(ctx, e)
}

func (s *Service) ticket(token string) (t ticket, err error) {
	text, err := s.secret.Open(ticketPurpose, token)
	if err != nil || json.Unmarshal(text, &t) != nil || t.Until <= s.now().Unix() {
		return ticket{}, fault.New(fault.Gone, "", "The login took too long, or the password has changed: log in again")
	}
	return t, nil
}

// Waiting is the login that waits for its second factor. Errors: Gone.
func (s *Service) Waiting(ctx context.Context, token string) (*Challenge, error) {
	t, err := s.ticket(token)
	if err != nil {
		return nil, err
	}
	c := &Challenge{User: t.User, Token: token}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		app, err := s.totpOf(ctx, tx, t.User)
		if err != nil {
			return err
		}
		has, err := s.hasFactor(ctx, tx, t.User)
		c.App, c.Enrol = app != nil, !has
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return c, nil
}
