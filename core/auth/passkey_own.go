package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"armature/core/auth/passkey"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Passkey is one as its user sees it.
type Passkey struct {
	Name    string // by which it is renamed and removed
	Title   string
	Added   string // YYYY-MM-DD HH:MM:SS.ffffff in the site's zone
	Used    int64  // seconds since 1970; 0: never
	Alone   bool   // it does in place of a password
	Synced  bool   // a password manager carries it to other devices
	Blocked bool   // it may have been copied
	Party   string // the domain it is bound to
	Lost    bool   // the site is somewhere else now
}

// Passkeys lists those of a session's user, the oldest first.
func (s *Service) Passkeys(ctx context.Context, caller *identity.Caller, origin string) (list []Passkey, err error) {
	var rows []keyRow
	err = s.store.Read(ctx, func(tx document.Tx) (err error) {
		rows, err = s.passkeysOf(ctx, tx, caller.User)
		return err
	})
	if err != nil {
		return nil, err
	}
	party, err := s.party(ctx, "", origin)
	if err != nil && fault.KindOf(err) != fault.Validation {
		return nil, err
	}
	for _, r := range rows {
		list = append(list, Passkey{
			Name: r.name, Title: r.title, Added: r.added, Used: r.used, Alone: r.alone, Synced: r.key.Synced(), Blocked: r.blocked,
			Party: r.party, Lost: r.party != party.ID,
		})
	}
	return list, nil
}

// Proved reports whether the session itself has shown a second factor: a browser that
// was remembered has not.
func (b *Browser) Proved() bool { return slices.Contains(b.Methods, byTwo) }

// mayChange refuses a session that is too old to change factors, and one that has shown
// none of those there are.
func (s *Service) mayChange(b *Browser, has bool) error {
	if err := s.fresh(b); err != nil {
		return err
	}
	if has && !b.Proved() {
		return fault.New(fault.Permission, FreshLoginRequired, "Log in again with your second factor: others are changed by who has shown it")
	}
	return nil
}

// BeginPasskey asks for a new passkey of a session's user. site and origin are as in
// AskPasskeyLogin. Errors: Permission (FreshLoginRequired); Validation where there can
// be none at that address, and for one too many.
func (s *Service) BeginPasskey(ctx context.Context, b *Browser, site, origin string) (*PasskeyQuestion, error) {
	if err := s.fresh(b); err != nil {
		return nil, err
	}
	party, err := s.party(ctx, site, origin)
	if err != nil {
		return nil, err
	}
	var rows []keyRow
	err = s.store.Read(ctx, func(tx document.Tx) error {
		has, err := s.hasFactor(ctx, tx, b.Caller.User)
		if err != nil {
			return err
		}
		if err := s.mayChange(b, has); err != nil {
			return err
		}
		rows, err = s.passkeysOf(ctx, tx, b.Caller.User)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return s.askNew(party, b.Caller, rows, b.Session)
}

// askNew asks for one more passkey of a user.
func (s *Service) askNew(party passkey.Party, user *identity.Caller, rows []keyRow, holder string) (*PasskeyQuestion, error) {
	if len(rows) >= maxPasskeys {
		return nil, tooManyPasskeys()
	}
	u := passkey.User{Name: user.User, Full: user.FullName, Handle: passkey.NewHandle()}
	var have []passkey.Key
	for _, r := range rows {
		u.Handle = r.handle
		if r.party == party.ID {
			have = append(have, r.key)
		}
	}
	q, err := party.Create(u, have)
	if err != nil {
		return nil, err
	}
	return s.ask(q, toEnrol, holder)
}

func tooManyPasskeys() error {
	return fault.Invalid("", "You have %d passkeys, and more are not kept: remove one first", maxPasskeys)
}

// made is a passkey that was made and is not kept yet.
type made struct {
	state  json.RawMessage
	party  string
	handle []byte
	key    passkey.Key
	alone  bool
	title  string
}

// checkMade checks the answer to askNew. Errors: Validation.
func (s *Service) checkMade(ctx context.Context, a PasskeyAnswer, title, holder string) (*made, error) {
	state, err := s.opened(a.Token, toEnrol, holder)
	if err != nil {
		return nil, asValidation(err)
	}
	party, err := s.party(ctx, a.Site, a.Origin)
	if err != nil {
		return nil, err
	}
	if len(a.Answer) > maxPasskeyAnswer {
		return nil, fault.Invalid("", "The passkey could not be made")
	}
	handle, err := passkey.Handle(state)
	if err != nil {
		return nil, err
	}
	m := &made{state: state, party: party.ID, handle: handle, title: passkeyTitle(title)}
	if m.key, m.alone, err = party.Created(passkey.User{Handle: handle}, state, json.RawMessage(a.Answer)); err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The passkey could not be made. Try it once more")
	}
	return m, nil
}

// FinishPasskey keeps the passkey that has answered BeginPasskey, under a title. Where
// it is the first factor of its user, the other sessions end and there are recovery
// codes, which are not shown again. Errors: those of BeginPasskey; Validation for an
// answer that is wrong, too old or was given before.
func (s *Service) FinishPasskey(ctx context.Context, b *Browser, a PasskeyAnswer, title string, from Remote) (codes []string, err error) {
	if err := s.fresh(b); err != nil {
		return nil, err
	}
	m, err := s.checkMade(ctx, a, title, b.Session)
	if err != nil {
		return nil, err
	}
	user := b.Caller.User
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		codes = nil
		doc, err := s.read(ctx, tx, user, true)
		if err != nil {
			return err
		}
		if !doc.Bool("enabled") {
			return refusal("User disabled or missing")
		}
		has, err := s.hasFactor(ctx, tx, user)
		if err != nil {
			return err
		}
		if err := s.mayChange(b, has); err != nil {
			return err
		}
		if err := s.putPasskey(ctx, tx, user, m, from.short()); err != nil || has {
			return err
		}
		if codes, err = s.putRecoveryCodes(ctx, tx, user); err != nil {
			return err
		}
		if err := s.raiseSession(ctx, tx, b, kindOf(m.key), byTouch); err != nil {
			return err
		}
		if err := s.forgetBrowsers(ctx, tx, user); err != nil {
			return err
		}
		return s.endSessions(ctx, tx, user, b.Session)
	})
	if err != nil {
		return nil, failed(err)
	}
	return codes, nil
}

// putPasskey makes a passkey the user's, whose document is locked.
func (s *Service) putPasskey(ctx context.Context, tx document.Tx, user string, m *made, from Remote) error {
	rows, err := s.passkeysOf(ctx, tx, user)
	if err != nil {
		return err
	}
	if len(rows) >= maxPasskeys {
		return tooManyPasskeys()
	}
	if len(rows) > 0 && !bytes.Equal(rows[0].handle, m.handle) {
		return fault.Invalid("", "Another passkey was made at the same time: try it once more")
	}
	if refused, err := s.spendChallenge(ctx, tx, user, m.state); err != nil || refused != nil {
		if err == nil {
			err = asValidation(refused)
		}
		return err
	}
	there, err := s.passkeyNamed(ctx, tx, m.key.Name())
	if err != nil {
		return err
	}
	if there != nil {
		return fault.Invalid("", "This passkey is set up already")
	}
	text, err := m.key.Text()
	if err != nil {
		return err
	}
	err = s.insert(ctx, tx, s.factors.passkeys, m.key.Name(), user, map[string]any{
		"user": user, "title": m.title, "party": m.party, "handle": base64.RawURLEncoding.EncodeToString(m.handle),
		"credential": text, "alone": check(m.alone),
	})
	if err != nil {
		return err
	}
	if err := s.Changed(ctx, tx); err != nil { // the login page offers passkeys from the first one on
		return err
	}
	return s.Record(ctx, tx, Activity{Operation: factorActivity, User: user, Subject: "Second factor: " + user + " has made the passkey " + m.title, From: from})
}

// RenamePasskey gives a passkey of a session's user another title. Errors: Missing.
func (s *Service) RenamePasskey(ctx context.Context, b *Browser, name, title string) error {
	if b == nil {
		return fault.Denied("Passkeys are changed by whoever is logged in")
	}
	return s.writeAgain(ctx, func(tx document.Tx) error {
		ok, err := tx.UpdateIf(ctx, s.factors.passkeys, name, map[string]any{"user": b.Caller.User}, map[string]any{"title": passkeyTitle(title)})
		if err == nil && !ok {
			err = noPasskey()
		}
		return err
	})
}

func noPasskey() error { return fault.New(fault.NotFound, "", "There is no such passkey") }

// RemovePasskey takes a passkey of a session's user away, with the last factor the
// recovery codes, and ends the user's other sessions. Errors: Permission
// (FreshLoginRequired); Missing.
func (s *Service) RemovePasskey(ctx context.Context, b *Browser, name string, from Remote) error {
	if err := s.mayChange(b, true); err != nil {
		return err
	}
	user := b.Caller.User
	domain, err := s.PasskeyDomain(ctx)
	if err != nil {
		return err
	}
	return s.change(ctx, b, func(tx document.Tx, app *totp) error {
		row, err := s.passkeyNamed(ctx, tx, name)
		if err != nil {
			return err
		}
		if row == nil || row.user != user {
			return noPasskey()
		}
		if _, err := tx.Delete(ctx, s.catalog.Schema(), s.factors.passkeys, name); err != nil {
			return err
		}
		if err := s.keepWayIn(ctx, tx, user, domain); err != nil {
			return err
		}
		if err := s.dropCodesWithoutFactor(ctx, tx, user); err != nil {
			return err
		}
		if err := s.Changed(ctx, tx); err != nil {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: factorActivity, User: user, Subject: "Second factor: " + user + " has removed the passkey " + row.title, From: from.short()})
	})
}

// keepWayIn refuses to take away what was the last way in of a user, whose document is
// locked: without a password, another passkey that does alone, and an account elsewhere.
func (s *Service) keepWayIn(ctx context.Context, tx document.Tx, user, domain string) error {
	doc, err := s.read(ctx, tx, user, false)
	if err != nil || doc.Text("password_hash") != "" {
		return err
	}
	if other, err := s.HasPasskeyAlone(ctx, tx, user, domain); err != nil || other {
		return err
	}
	if other, err := s.otherWay(ctx, tx, user); err != nil || other {
		return err
	}
	return fault.Invalid("", "This is the only way in that you have: set a password first")
}

// dropCodesWithoutFactor deletes the recovery codes of who has no factor any more.
func (s *Service) dropCodesWithoutFactor(ctx context.Context, tx document.Tx, user string) error {
	has, err := s.hasFactor(ctx, tx, user)
	if err != nil || has {
		return err
	}
	return s.dropFactors(ctx, tx, user, s.factors.recovery)
}

// AskLoginPasskey asks for the first passkey of somebody who needs a second factor to
// log in and has none. nil: there can be none at that address. Errors: Gone.
func (s *Service) AskLoginPasskey(ctx context.Context, token, site, origin string) (*PasskeyQuestion, error) {
	t, err := s.ticket(token)
	if err != nil {
		return nil, err
	}
	party, err := s.party(ctx, site, origin)
	if fault.KindOf(err) == fault.Validation {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	caller, err := s.Caller(ctx, t.User)
	if err != nil {
		return nil, err
	}
	return s.askNew(party, caller, nil, token)
}

// keepInLogin keeps the passkey that somebody has made on the way in.
func (s *Service) keepInLogin(ctx context.Context, tx document.Tx, user string, login *Login, e entry) (shown evidence, err error) {
	if err := s.putPasskey(ctx, tx, user, e.made, e.From); err != nil {
		return shown, err
	}
	if login.Codes, err = s.putRecoveryCodes(ctx, tx, user); err != nil {
		return shown, err
	}
	if err := s.EndSessions(ctx, tx, user); err != nil {
		return shown, err
	}
	return evidence{amr: append(e.first(), kindOf(e.made.key), byTouch, byTwo), factor: true}, nil
}
