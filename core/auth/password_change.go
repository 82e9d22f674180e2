package auth

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Change is the wish of somebody who is logged in for another password.
type Change struct {
	User    string
	Old     string
	New     string
	From    Remote
	Session string // the session it came with, which stays; may be empty
}

// ChangePassword sets another password for who knows the old one. The user's
// other sessions end, unless the user has chosen otherwise. A wrong old password
// counts as a failed login does. Errors: Permission for Guest; Validation for a
// wrong old password, since a 401 would make the browser forget the session, and
// for a new one that the policy refuses; TooManyRequests after too many
// failures; Unavailable when passwords cannot be checked now.
func (s *Service) ChangePassword(ctx context.Context, c Change) error {
	if err := s.writable(); err != nil {
		return err
	}
	if c.User == identity.Guest {
		return fault.Denied("Log in to change your password")
	}
	c.From = c.From.short()
	found, err := s.candidate(ctx, c.User)
	if err != nil {
		return failed(err)
	}
	if found.name != c.User {
		return fault.Missing("User %s not found", c.User)
	}
	if err := CheckPolicy(c.New); err != nil {
		return err
	}
	culprits := s.culprits(found.name, c.From)
	if err := s.checkLocked(ctx, culprits); err != nil {
		return err
	}
	var hash string
	err = s.hasher.do(ctx, s, func() error {
		old := Attempt{User: c.User, Password: c.Old, From: c.From}
		if _, err := s.checkLogin(ctx, found, old, "Password", culprits); err != nil {
			if fault.KindOf(err) == fault.Authentication {
				return wrongPassword()
			}
			return err
		}
		hash = s.hasher.hash(c.New)
		return nil
	})
	if err != nil {
		return err
	}
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		user, err := s.read(ctx, tx, found.name, true)
		if err != nil {
			return err
		}
		if user.Text("password_hash") != found.hash || !user.Bool("enabled") {
			return wrongPassword() // changed by somebody else meanwhile
		}
		if err := s.putPassword(ctx, tx, &identity.Caller{User: found.name}, user, hash, c.From); err != nil {
			return err
		}
		if user.Bool("logout_all_sessions") {
			if err := s.endSessions(ctx, tx, found.name, c.Session); err != nil {
				return err
			}
		}
		return s.forgive(ctx, tx, culprits)
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

func wrongPassword() error { return fault.Invalid("", "The old password is wrong") }
