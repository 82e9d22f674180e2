package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Attempt is somebody's wish to log in.
type Attempt struct {
	User     string // e-mail address, user name, or where the site allows it mobile number
	Password string
	From     Remote
	Session  string // the session the client brought along, which ends; may be empty

	Code   string                   // of the second factor; empty: not known yet
	Known  func(user string) string // the KnownBrowser.Token that the client has for a user; nil: none
	Factor bool                     // a browser that is known does not do: somebody asks for the factor itself
}

// Login is a login that succeeded.
type Login struct {
	ID       string // of the new session
	Caller   *identity.Caller
	Image    string
	Language string
	Lives    time.Duration // of the session, unless it is used
	Browser  *KnownBrowser // what the browser is to keep; nil: nothing
	Codes    []string      // recovery codes of a factor that was set up in this login, which are shown once
}

// candidate is what is known of a user before the password is checked.
type candidate struct {
	name    string // empty: there is no such user
	enabled bool
	hash    string
}

// Login checks a password, and a second factor of who has one or needs one, and
// begins a session. Errors: Authentication for a wrong password and an unknown user,
// which are not told apart, for a disabled one, and for a wrong code; a Challenge,
// which is an Authentication as well, where the password is right and the factor is
// missing; TooManyRequests after too many failures; Unavailable when passwords
// cannot be checked now.
func (s *Service) Login(ctx context.Context, a Attempt) (*Login, error) {
	a.User = strings.TrimSpace(a.User)
	a.From = a.From.short()
	switch {
	case a.User == "" || a.Password == "":
		return nil, refusal("Incomplete login details")
	case len(a.Password) > MaxPassword:
		return nil, refusal("Password size exceeded the maximum allowed size")
	case len(a.User) > maxData:
		return nil, refusal(wrongLogin)
	}
	if s.flag("disable_user_pass_login") {
		return nil, refusal("Login with username and password is not allowed.")
	}
	found, err := s.candidate(ctx, a.User)
	if err != nil {
		return nil, failed(err)
	}
	who := found.name
	if who == "" {
		who = fold(a.User)
	}
	culprits := s.culprits(who, a.From)
	if err := s.checkLocked(ctx, culprits); err != nil {
		return nil, err
	}
	upgraded := ""
	err = s.hasher.do(ctx, s, func() (err error) {
		upgraded, err = s.checkLogin(ctx, found, a, "Login", culprits)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, entry{
		Attempt: a, user: found.name, upgraded: upgraded, culprits: culprits,
		same: func(hash string) bool { return hash == found.hash },
	})
}

const wrongLogin = "Invalid login credentials"

func refusal(message string) error {
	return &fault.Error{Kind: fault.Authentication, Message: message, Quiet: true}
}

// candidate finds a user by name, which is the address they came with, by the address they have now, or by user name, and where the site wants it by the
// number of the telephone, which no two users share, in one query whether there is
// one or not. Who chose somebody's address for a user name is not that somebody.
func (s *Service) candidate(ctx context.Context, typed string) (c candidate, err error) {
	dt, err := s.docType("User")
	if err != nil {
		return c, err
	}
	lower := fold(typed)
	names := doctype.AnyOf{equals(dt, "name", typed), equals(dt, "name", lower), equals(dt, "email", lower), equals(dt, "username", typed), equals(dt, "username", lower)}
	if s.flag("allow_login_using_mobile_number") {
		names = append(names, equals(dt, "mobile_no", typed))
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "enabled", "password_hash", "username", "email"),
		Where:   names,
		Length:  len(names),
	}
	best := 0
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			username, _ := v[3].(string)
			email, _ := v[4].(string)
			rank := 1 // by the number
			switch {
			case name == typed:
				rank = 6
			case name == lower:
				rank = 5
			case email == lower && builtin(name):
				return nil // nobody has proved it
			case email == lower:
				rank = 4
			case username == typed:
				rank = 3
			case username == lower:
				rank = 2
			}
			if name == identity.Guest || rank <= best {
				return nil
			}
			best = rank
			c = candidate{name: name, enabled: v[1] == int64(1)}
			c.hash, _ = v[2].(string)
			return nil
		})
	})
	return c, err
}

// checkLogin checks the password and counts a wrong one before the next is
// looked at: requests that arrive together get no more tries than those that
// arrive in turn. A user who does not exist costs the same time. The result is a
// new hash where the stored one was made at another cost. operation is what a
// failure is recorded as.
func (s *Service) checkLogin(ctx context.Context, found candidate, a Attempt, operation string, culprits [2]string) (upgraded string, err error) {
	if err := s.checkLocked(ctx, culprits); err != nil {
		return "", err
	}
	hash := found.hash
	if hash == "" {
		hash = noPassword
	}
	if !s.hasher.check(hash, a.Password) || found.hash == "" {
		// Who hangs up before the answer has failed all the same.
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), hashingWait)
		defer stop()
		if err := s.failLogin(ctx, found, a, operation, culprits); err != nil {
			return "", failed(err)
		}
		return "", refusal(wrongLogin)
	}
	if outdated(hash) {
		upgraded = s.hasher.hash(a.Password)
	}
	return upgraded, nil
}

// failLogin counts and records a failure.
func (s *Service) failLogin(ctx context.Context, found candidate, a Attempt, operation string, culprits [2]string) error {
	return s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.failures.add(ctx, tx, culprits[:]...); err != nil {
			return err
		}
		act := Activity{Operation: operation, Status: Refused, User: found.name, From: a.From}
		if found.name == "" {
			act.Subject = "Login: unknown user"
		}
		if err := s.Record(ctx, tx, act); err != nil {
			return err
		}
		return s.failures.sweep(ctx, tx)
	})
}

// writeAgain is a GroupedTx write that is repeated when another process has just
// inserted the same count.
func (s *Service) writeAgain(ctx context.Context, fn func(document.Tx) error) (err error) {
	for range 5 {
		err = s.store.Write(ctx, document.GroupedTx, fn)
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return err
}

// entry is a login whose password was right.
type entry struct {
	Attempt
	user     string
	culprits [2]string
	same     func(hash string) bool // reports whether the password is still the one that was checked
	upgraded string                 // another hash of it; empty: the stored one does

	remember bool   // make the browser known
	enrol    string // secret of an app that the user sets up in this login; empty: none
	made     *made  // the same for a passkey; nil: none
	key      *proof // a passkey that is shown; nil: none

	by      []string                                                       // what was shown first, as RFC 8176 names it; none: a password
	vouched bool                                                           // whoever answers for the user has seen a second factor
	spend   func(ctx context.Context, tx document.Tx) (refused, err error) // uses up what was shown first; nil: it is not used up
	how     string                                                         // the login was made, for the Activity Log; empty: with a password
}

// first is what was shown first.
func (e entry) first() []string {
	if len(e.by) == 0 {
		return []string{byPassword}
	}
	return slices.Clone(e.by)
}

// with is what was shown first and a second factor, each named once: a code by mail is
// named as the code of an app is (RFC 8176 section 2).
func (e entry) with(second string) evidence {
	amr := e.first()
	if !slices.Contains(amr, second) {
		amr = append(amr, second)
	}
	return evidence{amr: append(amr, byTwo), factor: true}
}

// begin makes the session of a user whose password was right, unless something
// changed while it was checked, or a second factor is missing.
func (s *Service) begin(ctx context.Context, e entry) (login *Login, err error) {
	var refused error
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		login, refused = &Login{}, nil
		if e.spend != nil {
			if refused, err = e.spend(ctx, tx); err != nil || refused != nil {
				return err
			}
		}
		user, err := s.admitted(ctx, tx, e, login)
		if err != nil {
			return err
		}
		var shown evidence
		if shown, refused, err = s.show(ctx, tx, user, login, &e); err != nil || refused != nil {
			return err // what was counted of a refusal is kept
		}
		login.Image, login.Language, login.Lives = user.Text("user_image"), user.Text("language"), min(s.idle(), sessionLife)
		if login.ID, err = s.replaceSession(ctx, tx, user, e.Attempt, shown); err != nil {
			return err
		}
		return s.noteLogin(ctx, tx, user, e)
	})
	var f *fault.Error
	switch {
	case err != nil && !errors.As(err, &f):
		return nil, failed(err)
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refused
	}
	return login, nil
}

// admitted reads and locks the user of a login and refuses who may not log in.
func (s *Service) admitted(ctx context.Context, tx document.Tx, e entry, login *Login) (*doctype.Document, error) {
	user, err := s.read(ctx, tx, e.user, true)
	if fault.KindOf(err) == fault.NotFound {
		return nil, refusal(wrongLogin)
	}
	if err != nil {
		return nil, err
	}
	if !e.same(user.Text("password_hash")) {
		return nil, refusal(wrongLogin)
	}
	if err := s.admit(user, e.From); err != nil {
		return nil, err
	}
	login.Caller, err = s.callerOf(ctx, tx, user)
	return user, err
}

// replaceSession ends the session the client brought along and begins another.
func (s *Service) replaceSession(ctx context.Context, tx document.Tx, user *doctype.Document, a Attempt, shown evidence) (string, error) {
	if sessionID(a.Session) {
		dt, err := s.docType(sessionName)
		if err != nil {
			return "", err
		}
		gone, err := tx.Delete(ctx, s.catalog.Schema(), dt, s.hashSession(a.Session))
		if err != nil {
			return "", err
		}
		if gone {
			if err := s.Changed(ctx, tx); err != nil {
				return "", err
			}
		}
	}
	return s.beginSession(ctx, tx, user, a.From, shown)
}

// noteLogin is what a login leaves behind beside the session.
func (s *Service) noteLogin(ctx context.Context, tx document.Tx, user *doctype.Document, e entry) error {
	now := doctype.FormatDatetime(s.now())
	set := map[string]any{"last_login": now, "last_active": now, "last_ip": e.From.Address}
	if e.upgraded != "" {
		set["password_hash"] = e.upgraded
	}
	if _, err := tx.UpdateIf(ctx, user.Type, user.Name(), map[string]any{"enabled": int64(1)}, set); err != nil {
		return err
	}
	if err := s.forgive(ctx, tx, e.culprits); err != nil {
		return err
	}
	if err := s.sweepSessions(ctx, tx); err != nil {
		return err
	}
	act := Activity{Operation: "Login", User: user.Name(), From: e.From}
	if e.how != "" {
		act.Subject = "Login: " + user.Name() + " " + e.how
	}
	return s.Record(ctx, tx, act)
}
