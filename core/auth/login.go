package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Attempt is somebody's wish to log in.
type Attempt struct {
	User     string // e-mail address or user name
	Password string
	From     Remote
	Session  string // the session the client brought along, which ends; may be empty
}

// Login is a login that succeeded.
type Login struct {
	ID       string // of the new session
	Caller   *identity.Caller
	Image    string
	Language string
	Lives    time.Duration // of the session, unless it is used
}

// candidate is what is known of a user before the password is checked.
type candidate struct {
	name    string // empty: there is no such user
	enabled bool
	hash    string
}

// Login checks a password and begins a session. Errors: Authentication for a
// wrong password and an unknown user, which are not told apart, and for a
// disabled one; SecurityException after too many failures; Unavailable when
// passwords cannot be checked now.
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
	return s.begin(ctx, found, upgraded, a, culprits)
}

const wrongLogin = "Invalid login credentials"

func refusal(message string) error {
	return &fault.Error{Kind: fault.Authentication, Message: message, Quiet: true}
}

// candidate finds a user by address or user name, in one query whether there is
// one or not. Who chose somebody's address for a user name is not that somebody.
func (s *Service) candidate(ctx context.Context, typed string) (c candidate, err error) {
	dt, err := s.docType("User")
	if err != nil {
		return c, err
	}
	lower := fold(typed)
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "enabled", "password_hash", "username"),
		Where:   doctype.AnyOf{equals(dt, "name", typed), equals(dt, "name", lower), equals(dt, "username", typed), equals(dt, "username", lower)},
		Length:  4,
	}
	best := 0
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			username, _ := v[3].(string)
			rank := 0
			switch {
			case name == typed:
				rank = 4
			case name == lower:
				rank = 3
			case username == typed:
				rank = 2
			case username == lower:
				rank = 1
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

// begin makes the session of a user whose password was right, unless something
// changed while it was checked.
func (s *Service) begin(ctx context.Context, found candidate, upgraded string, a Attempt, culprits [2]string) (login *Login, err error) {
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		user, err := s.read(ctx, tx, found.name, true)
		if fault.KindOf(err) == fault.NotFound {
			return refusal(wrongLogin)
		}
		if err != nil {
			return err
		}
		if user.Text("password_hash") != found.hash {
			return refusal(wrongLogin)
		}
		if err := s.admit(user, a.From); err != nil {
			return err
		}
		caller, err := s.callerOf(ctx, tx, user)
		if err != nil {
			return err
		}
		login = &Login{Caller: caller, Image: user.Text("user_image"), Language: user.Text("language"), Lives: min(s.idle(), sessionLife)}
		login.ID, err = s.replaceSession(ctx, tx, user, a)
		if err != nil {
			return err
		}
		return s.noteLogin(ctx, tx, user, upgraded, a, culprits)
	})
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		return nil, failed(err)
	}
	if err != nil {
		return nil, err
	}
	return login, nil
}

// replaceSession ends the session the client brought along and begins another.
func (s *Service) replaceSession(ctx context.Context, tx document.Tx, user *doctype.Document, a Attempt) (string, error) {
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
	return s.beginSession(ctx, tx, user, a.From)
}

// noteLogin is what a login leaves behind beside the session.
func (s *Service) noteLogin(ctx context.Context, tx document.Tx, user *doctype.Document, upgraded string, a Attempt, culprits [2]string) error {
	now := doctype.FormatDatetime(s.now())
	set := map[string]any{"last_login": now, "last_active": now, "last_ip": a.From.Address}
	if upgraded != "" {
		set["password_hash"] = upgraded
	}
	if _, err := tx.UpdateIf(ctx, user.Type, user.Name(), map[string]any{"enabled": int64(1)}, set); err != nil {
		return err
	}
	if err := s.forgive(ctx, tx, culprits); err != nil {
		return err
	}
	if err := s.sweepSessions(ctx, tx); err != nil {
		return err
	}
	return s.Record(ctx, tx, Activity{Operation: "Login", User: user.Name(), From: a.From})
}
