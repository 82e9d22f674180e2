package auth

import (
	"context"
	"encoding/hex"
	"time"

	"armature/core/auth/otp"
	"armature/core/document"
	"armature/core/fault"
)

const (
	// codeEvery is how long a wrong code counts.
	codeEvery = 24 * time.Hour
	// maxWrongCodes is how many wrong codes of a user there may be in that time. Of a
	// million codes three are good at any moment: who has the password and tries on for
	// a year gets in with a chance of 2 %. A success forgives nothing, or whoever guesses
	// would have more tries the more often the user logs in. Recovery codes, which nobody
	// guesses, go on working: by them the user gets in whom somebody else has locked out.
	maxWrongCodes = 20
)

// checkCode looks at a code of the app or a recovery code, for a user whose document
// the transaction has locked: of codes that come at once each is counted before the
// next is looked at. What is refused is an answer and no error, so that the
// transaction keeps the count: Authentication for a code that is wrong or was used
// before, TooManyRequests after too many.
func (s *Service) checkCode(ctx context.Context, tx document.Tx, user, code string, from Remote) (refused, err error) {
	code = otp.Clean(cut(code, maxData))
	_, recovers := otp.Recovery(code)
	culprit := hex.EncodeToString(s.secret.MAC("second factor", user))
	w, _, err := s.factors.wrong.locked(ctx, tx, culprit)
	if err != nil {
		return nil, err
	}
	if w.count >= maxWrongCodes && !recovers {
		wait := s.untilThen(w.since + codeEvery.Milliseconds())
		return fault.Wrap(fault.TooManyRequests, "", lockedError(wait),
			"Too many wrong codes; try again in %d seconds", wait), nil
	}
	right, err := s.spend(ctx, tx, user, code, from)
	if err != nil || right {
		return nil, err
	}
	if err := s.factors.wrong.add(ctx, tx, culprit); err != nil {
		return nil, err
	}
	act := Activity{Operation: factorActivity, Status: Refused, User: user, Subject: "Second factor: a wrong code of " + user, From: from}
	return refusal(wrongCode), s.Record(ctx, tx, act)
}

const wrongCode = "The code is wrong, too old, or was used before"

// spend uses a code up; false: it is none of the user's.
func (s *Service) spend(ctx context.Context, tx document.Tx, user, code string, from Remote) (bool, error) {
	if code, ok := otp.Recovery(code); ok {
		return s.spendRecovery(ctx, tx, user, code, from)
	}
	app, err := s.totpOf(ctx, tx, user)
	if err != nil || app == nil {
		return false, err
	}
	secret, err := s.secret.Open(app.sealPurpose(), app.secret)
	if err != nil {
		return false, err
	}
	step, ok := otp.Verify(string(secret), code, s.now(), app.used)
	if !ok {
		return false, nil
	}
	return tx.UpdateIf(ctx, s.factors.dt, app.name, map[string]any{"user": user, "used": app.used}, map[string]any{"used": step})
}

func (s *Service) spendRecovery(ctx context.Context, tx document.Tx, user, code string, from Remote) (bool, error) {
	name := s.hashRecovery(code)
	row, err := tx.Get(ctx, s.catalog.Schema(), s.factors.recovery, name, true)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil || row.Text("user") != user {
		return false, err
	}
	if ok, err := tx.Delete(ctx, s.catalog.Schema(), s.factors.recovery, name); err != nil || !ok {
		return false, err
	}
	return true, s.Record(ctx, tx, Activity{Operation: factorActivity, User: user, Subject: "Second factor: a recovery code of " + user + " was used", From: from})
}

// hashRecovery is the name of the row of a recovery code, of which nothing else is
// kept: it has enough bits that one round of a keyed hash is enough.
func (s *Service) hashRecovery(code string) string {
	return hex.EncodeToString(s.secret.MAC("recovery code", code))
}
