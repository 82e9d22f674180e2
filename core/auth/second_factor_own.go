package auth

import (
	"cmp"
	"context"
	"slices"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Factors is what a user has of second factors.
type Factors struct {
	App      string // when the authenticator app was set up, YYYY-MM-DD HH:MM:SS.ffffff in the site's zone; empty: there is none
	Passkeys int
	Codes    int  // recovery codes that are left
	Browsers int  // remembered browsers
	Needed   bool // the site or a role demands one
}

// Factors returns what the user of a session has.
func (s *Service) Factors(ctx context.Context, caller *identity.Caller) (f Factors, err error) {
	f.Needed = s.needsFactor(caller)
	err = s.store.Read(ctx, func(tx document.Tx) error {
		app, err := s.totpOf(ctx, tx, caller.User)
		if err != nil {
			return err
		}
		if f.App = ""; app != nil {
			f.App = app.added
		}
		codes, err := s.namesOf(ctx, tx, s.factors.recovery, caller.User)
		if err != nil {
			return err
		}
		browsers, err := s.namesOf(ctx, tx, s.factors.browsers, caller.User)
		if err != nil {
			return err
		}
		keys, err := s.namesOf(ctx, tx, s.factors.passkeys, caller.User)
		f.Codes, f.Browsers, f.Passkeys = len(codes), len(browsers), len(keys)
		return err
	})
	return f, err
}

// Fresh reports whether a session is new enough that its user may change factors.
func (s *Service) Fresh(b *Browser) bool { return s.now().Sub(b.Begun) < freshLogin }

// fresh refuses a session that is too old, and none at all: factors are changed by
// people, whoever has a key or a token is not asked.
func (s *Service) fresh(b *Browser) error {
	if b == nil {
		return fault.Denied("This is changed by whoever is logged in")
	}
	if !s.Fresh(b) {
		return fault.New(fault.Permission, FreshLoginRequired, "Log in again: this is changed within %d minutes of a login", int(freshLogin.Minutes()))
	}
	return nil
}

// BeginEnrolment makes the secret of an authenticator app for the user of a session.
// before is as in BeginLoginEnrolment. Errors: Permission (FreshLoginRequired);
// Validation where there is an app already.
func (s *Service) BeginEnrolment(ctx context.Context, b *Browser, before, site string) (*Enrolment, error) {
	if err := s.fresh(b); err != nil {
		return nil, err
	}
	err := s.store.Read(ctx, func(tx document.Tx) error {
		app, err := s.totpOf(ctx, tx, b.Caller.User)
		if err != nil {
			return err
		}
		if app != nil {
			return appThere()
		}
		has, err := s.hasFactor(ctx, tx, b.Caller.User)
		if err != nil {
			return err
		}
		return s.mayChange(b, has)
	})
	if err != nil {
		return nil, err
	}
	if before != "" {
		if e, err := s.again(before, b.Caller.User, site, b.Session); err == nil {
			return e, nil
		}
	}
	return s.newEnrolment(b.Caller.User, site, b.Session)
}

func appThere() error {
	return fault.Invalid("", "An authenticator app is set up already: remove it first")
}

// FinishEnrolment makes an app the second factor of a session's user, whose other
// sessions end: they have shown none. It returns the recovery codes, which are not
// shown again. Errors: those of BeginEnrolment; Validation for a wrong code.
func (s *Service) FinishEnrolment(ctx context.Context, b *Browser, token, code string, from Remote) (codes []string, err error) {
	if err := s.fresh(b); err != nil {
		return nil, err
	}
	secret, err := s.openEnrolment(token, b.Session)
	if err != nil {
		return nil, err
	}
	err = s.change(ctx, b, func(tx document.Tx, app *totp) error {
		if app != nil {
			return appThere()
		}
		user := b.Caller.User
		has, err := s.hasFactor(ctx, tx, user)
		if err != nil {
			return err
		}
		if err := s.mayChange(b, has); err != nil {
			return err
		}
		if err := s.putTOTP(ctx, tx, user, secret, code, from.short()); err != nil {
			return asValidation(err)
		}
		if codes, err = s.putRecoveryCodes(ctx, tx, user); err != nil {
			return err
		}
		return s.raiseSession(ctx, tx, b, byCode)
	})
	return codes, err
}

// change changes the factors of a session's user, whose document is locked meanwhile.
// Sessions that have shown no factor, or one that is no more, end with it, but for
// this one, and remembered browsers are forgotten.
func (s *Service) change(ctx context.Context, b *Browser, change func(tx document.Tx, app *totp) error) error {
	user := b.Caller.User
	err := s.writeAgain(ctx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, true)
		if err != nil {
			return err
		}
		if !doc.Bool("enabled") {
			return refusal("User disabled or missing")
		}
		app, err := s.totpOf(ctx, tx, user)
		if err != nil {
			return err
		}
		if err := change(tx, app); err != nil {
			return err
		}
		if err := s.forgetBrowsers(ctx, tx, user); err != nil {
			return err
		}
		return s.endSessions(ctx, tx, user, b.Session)
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

// raiseSession notes what else a session's user has shown in it.
func (s *Service) raiseSession(ctx context.Context, tx document.Tx, b *Browser, methods ...string) error {
	dt, err := s.docType(sessionName)
	if err != nil {
		return err
	}
	amr := slices.Clone(b.Methods)
	for _, method := range append(methods, byTwo) {
		if !slices.Contains(amr, method) {
			amr = append(amr, method)
		}
	}
	shown := evidence{amr: amr, factor: true}
	ok, err := tx.UpdateIf(ctx, dt, s.hashSession(b.Session), map[string]any{"user": b.Caller.User}, map[string]any{"amr": shown.text(), "second_factor": int64(1)})
	if err != nil {
		return err
	}
	if !ok {
		return fault.Denied("The session has ended")
	}
	return s.Changed(ctx, tx)
}

// provedChange is change for who shows a code of what is there. A wrong one is counted
// as one of a login is.
func (s *Service) provedChange(ctx context.Context, b *Browser, code string, from Remote, change func(tx document.Tx, app *totp) error) error {
	if err := s.fresh(b); err != nil {
		return err
	}
	user := b.Caller.User
	var refused error
	// First the code, in a transaction that is kept whatever comes of it.
	err := s.writeAgain(ctx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, true)
		if err != nil {
			return err
		}
		app, err := s.totpOf(ctx, tx, doc.Name())
		if err != nil {
			return err
		}
		if app == nil && code == "" {
			has, err := s.hasFactor(ctx, tx, user)
			if err == nil && !has {
				err = noFactor()
			}
			if err != nil {
				return err
			}
			return s.mayChange(b, true) // by a passkey, a moment ago
		}
		if has, err := s.hasFactor(ctx, tx, user); err != nil || !has {
			return cmp.Or(err, noFactor())
		}
		refused, err = s.checkCode(ctx, tx, user, code, from.short())
		return err
	})
	if err != nil {
		return failed(err)
	}
	if refused != nil {
		return asValidation(refused)
	}
	return s.change(ctx, b, change)
}

func noFactor() error { return fault.Invalid("", "No second factor is set up") }

// asValidation keeps a slip of the finger from ending the session, as a 401 does.
func asValidation(err error) error {
	if f := fault.From(err); f.Kind == fault.Authentication {
		return fault.Invalid("", "%s", f.Message)
	}
	return err
}

// RemoveApp takes the app of a session's user away, and without any other factor the
// recovery codes; code is one of them. Errors: Permission (FreshLoginRequired);
// Validation for a wrong code and where there is no app; TooManyRequests after too many.
func (s *Service) RemoveApp(ctx context.Context, b *Browser, code string, from Remote) error {
	return s.provedChange(ctx, b, code, from, func(tx document.Tx, app *totp) error {
		user := b.Caller.User
		if app == nil {
			return fault.Invalid("", "No authenticator app is set up")
		}
		if err := s.dropFactors(ctx, tx, user, s.factors.dt); err != nil {
			return err
		}
		if err := s.dropCodesWithoutFactor(ctx, tx, user); err != nil {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: factorActivity, User: user, Subject: "Second factor: " + user + " has removed the app", From: from})
	})
}

// NewRecoveryCodes gives a session's user other recovery codes. Who has no app shows a
// passkey by logging in with it, and no code. Errors: those of
// RemoveApp.
func (s *Service) NewRecoveryCodes(ctx context.Context, b *Browser, code string, from Remote) (codes []string, err error) {
	err = s.provedChange(ctx, b, code, from, func(tx document.Tx, _ *totp) (err error) {
		if codes, err = s.putRecoveryCodes(ctx, tx, b.Caller.User); err != nil {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: factorActivity, User: b.Caller.User, Subject: "Second factor: " + b.Caller.User + " has new recovery codes", From: from})
	})
	return codes, err
}

// ForgetBrowsers makes every remembered browser of a session's user ask for the factor
// again.
func (s *Service) ForgetBrowsers(ctx context.Context, b *Browser) error {
	if b == nil {
		return fault.Denied("Browsers are forgotten by whoever is logged in")
	}
	return s.writeAgain(ctx, func(tx document.Tx) error { return s.forgetBrowsers(ctx, tx, b.Caller.User) })
}
