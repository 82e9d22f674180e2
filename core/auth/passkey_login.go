package auth

import (
	"context"
	"encoding/json"
	"slices"

	"armature/core/auth/passkey"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// Passkeys in the words of RFC 8176 section 2: byDevice where the key stays in its
// device, bySoftware where a password manager carries it to others, and in either case
// byTouch, that somebody was there. What an authenticator says of itself is all that is
// known of it.
const (
	byDevice   = "hwk"
	bySoftware = "swk"
	byTouch    = "user"
)

// proof is a passkey that is shown in a login.
type proof struct {
	party  passkey.Party
	state  json.RawMessage
	answer *passkey.Answer
	alone  bool // in place of the password
}

const (
	unknownPasskey = "This passkey is not known here, or not any more"
	blockedPasskey = "This passkey is not taken any more, since it may have been copied. Log in otherwise and remove it"
)

// refusedPasskey is a refusal of an answer; the log is told why.
func refusedPasskey(err error) error {
	return fault.Wrap(fault.Authentication, "", err, "The passkey could not be checked. Try it once more")
}

func readAnswer(text string) (*passkey.Answer, error) {
	if len(text) > maxPasskeyAnswer {
		return nil, refusal(unknownPasskey)
	}
	answer, err := passkey.Read(json.RawMessage(text))
	if err != nil {
		return nil, refusedPasskey(err)
	}
	return answer, nil
}

// AskPasskeyLogin asks for a passkey in place of a password; whose is not known yet.
// Nothing is written. site is what it is called, origin that of the page, and holder
// what only the browser has. nil: nobody here has a passkey, or there can be none at
// that address. Errors: those of the database.
func (s *Service) AskPasskeyLogin(ctx context.Context, site, origin, holder string) (*PasskeyQuestion, error) {
	here, err := s.passkeysOnSite(ctx)
	if err != nil || !here.any {
		return nil, err
	}
	party, err := s.party(ctx, site, origin)
	if fault.KindOf(err) == fault.Validation {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	q, err := party.Ask(nil, nil)
	if err != nil {
		return nil, err
	}
	return s.ask(q, toLogIn, holder)
}

// LoginWithPasskey begins a session for whoever has answered AskPasskeyLogin: the
// passkey is both factors at once, since its device has made sure that it is its owner.
// Errors: Authentication for an answer that is wrong, too old or was given before, for
// a passkey that is none of the site's, and for a user who may not log in.
func (s *Service) LoginWithPasskey(ctx context.Context, a PasskeyAnswer, holder string, from Remote, session string) (*Login, error) {
	shown, err := s.proofOf(ctx, a, toLogIn, holder)
	if err != nil {
		return nil, err
	}
	shown.alone = true
	var row *keyRow
	err = s.store.Read(ctx, func(tx document.Tx) (err error) {
		row, err = s.passkeyNamed(ctx, tx, shown.answer.Passkey)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	if row == nil {
		return nil, refusal(unknownPasskey)
	}
	from = from.short()
	return s.begin(ctx, entry{
		Attempt: Attempt{From: from, Session: session, Factor: true}, user: row.user, culprits: s.culprits(row.user, from),
		same: func(string) bool { return true }, // no password was checked
		key:  shown,
	})
}

// AskPasskeyFactor asks for a passkey of a login whose password was right. nil: its user
// has none for that address. Errors: Gone.
func (s *Service) AskPasskeyFactor(ctx context.Context, token, site, origin string) (*PasskeyQuestion, error) {
	t, err := s.ticket(token)
	if err != nil {
		return nil, err
	}
	var rows []keyRow
	err = s.store.Read(ctx, func(tx document.Tx) (err error) {
		rows, err = s.passkeysOf(ctx, tx, t.User)
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	party, err := s.party(ctx, site, origin)
	if fault.KindOf(err) == fault.Validation {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys := usable(rows, party.ID)
	if len(keys) == 0 {
		return nil, nil
	}
	q, err := party.Ask(&passkey.User{Handle: rows[0].handle, Name: t.User}, keys)
	if err != nil {
		return nil, err
	}
	return s.ask(q, toProve, token)
}

// proofOf reads the answer to a question that was asked for a purpose, toLogIn or toProve.
// Whose passkey it is, and whether it is right, is looked at once its user is locked.
func (s *Service) proofOf(ctx context.Context, a PasskeyAnswer, purpose, holder string) (*proof, error) {
	state, err := s.opened(a.Token, purpose, holder)
	if err != nil {
		return nil, err
	}
	party, err := s.party(ctx, a.Site, a.Origin)
	if err != nil {
		return nil, err
	}
	answer, err := readAnswer(a.Answer)
	if err != nil {
		return nil, err
	}
	return &proof{party: party, state: state, answer: answer}, nil
}

// showPasskey checks the passkey of a login in the transaction that has locked its user.
// refused is as in show.
func (s *Service) showPasskey(ctx context.Context, tx document.Tx, user *doctype.Document, e *entry) (shown evidence, refused, err error) {
	p := e.key
	rows, err := s.passkeysOf(ctx, tx, user.Name())
	if err != nil {
		return shown, nil, err
	}
	i := slices.IndexFunc(rows, func(r keyRow) bool { return r.name == p.answer.Passkey })
	switch {
	case i < 0 || rows[i].party != p.party.ID: // or removed, while it was looked for
		return shown, refusal(unknownPasskey), nil
	case rows[i].blocked:
		return shown, refusal(blockedPasskey), nil
	}
	row := rows[i]
	found, wrong := p.party.Check(passkey.User{Handle: row.handle, Name: user.Name()}, usable(rows, p.party.ID), p.state, p.answer)
	if wrong == nil && p.alone && !found.Verified {
		wrong = reasonError("the authenticator has not made sure that it is its owner")
	}
	if wrong != nil {
		return shown, refusedPasskey(wrong), nil
	}
	if refused, err := s.spendChallenge(ctx, tx, user.Name(), p.state); err != nil || refused != nil {
		return shown, refused, err
	}
	if found.Copied {
		refused, err = s.blockPasskey(ctx, tx, row, e.From)
		return shown, refused, err
	}
	text, err := found.Key.Text()
	if err != nil {
		return shown, nil, err
	}
	set := map[string]any{"credential": text, "used": s.now().Unix()}
	if ok, err := tx.UpdateIf(ctx, s.factors.passkeys, row.name, map[string]any{"user": user.Name()}, set); err != nil || !ok {
		return shown, refusal(unknownPasskey), err
	}
	shown = evidence{amr: []string{kindOf(found.Key), byTouch, byTwo}, factor: true}
	if p.alone {
		e.how = "with the passkey " + row.title
	} else {
		shown.amr = append(e.first(), shown.amr...)
	}
	return shown, nil, nil
}

func kindOf(k passkey.Key) string {
	if k.Synced() {
		return bySoftware
	}
	return byDevice
}

// blockPasskey takes a passkey out of use whose counter went back: there may be two of
// it, and which one is its owner's nobody can tell (Web Authentication section 6.1.1).
func (s *Service) blockPasskey(ctx context.Context, tx document.Tx, row keyRow, from Remote) (refused, err error) {
	if _, err := tx.UpdateIf(ctx, s.factors.passkeys, row.name, map[string]any{"user": row.user}, map[string]any{"blocked": int64(1)}); err != nil {
		return nil, err
	}
	act := Activity{Operation: factorActivity, Status: Refused, User: row.user, Subject: "Second factor: the passkey " + row.title + " of " + row.user + " may have been copied and is blocked", From: from}
	return refusal(blockedPasskey), s.Record(ctx, tx, act)
}
