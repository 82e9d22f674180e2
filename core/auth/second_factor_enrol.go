package auth

import (
	"context"
	"encoding/json"
	"time"

	"armature/core/auth/otp"
	"armature/core/document"
	"armature/core/fault"
)

const (
	// freshLogin is how long after a login factors may be changed: who finds a browser
	// unattended changes none.
	freshLogin = 10 * time.Minute
	// enrolmentLife is how long a secret may be shown before its first code.
	enrolmentLife = 30 * time.Minute
)

// FreshLoginRequired is the exc_type of a change for which the login is too old.
const FreshLoginRequired = "FreshLoginRequired"

// Enrolment is an authenticator app that is being set up. Nothing is kept of it before
// a code has shown that the app has the secret.
type Enrolment struct {
	User    string
	Secret  string      // as it is typed into an app
	URI     string      // the same for an app to read (Key URI Format)
	Picture otp.Picture // the URI as a QR code
	Token   string      // what goes back with the first code; sealed for who has asked
}

// enrolment is what the token says.
type enrolment struct {
	Secret string
	Until  int64 // seconds
}

// newEnrolment makes a secret. holder is what only the browser has that has asked: a
// session's id or the token of a Challenge. So nobody can have somebody else set up
// a secret that he knows.
func (s *Service) newEnrolment(user, site, holder string) (*Enrolment, error) {
	e := &Enrolment{User: user, Secret: otp.NewSecret()}
	e.URI = otp.URI(e.Secret, site, user)
	var err error
	if e.Picture, err = otp.Draw(e.URI); err != nil {
		return nil, err
	}
	return e, s.sealEnrolment(e, holder)
}

func (s *Service) sealEnrolment(e *Enrolment, holder string) error {
	text, err := json.Marshal(enrolment{Secret: e.Secret, Until: s.now().Add(enrolmentLife).Unix()})
	e.Token = s.secret.Seal(enrolmentPurpose(holder), text)
	return err
}

func enrolmentPurpose(holder string) string { return "second factor that is set up by " + holder }

// openEnrolment returns the secret. Errors: Validation.
func (s *Service) openEnrolment(token, holder string) (string, error) {
	var e enrolment
	text, err := s.secret.Open(enrolmentPurpose(holder), token)
	if err != nil || json.Unmarshal(text, &e) != nil || e.Until <= s.now().Unix() {
		return "", fault.Invalid("", "Setting it up took too long: begin again")
	}
	return e.Secret, nil
}

// again is the same enrolment once more, after a wrong code.
func (s *Service) again(token, user, site, holder string) (*Enrolment, error) {
	secret, err := s.openEnrolment(token, holder)
	if err != nil {
		return nil, err
	}
	e := &Enrolment{User: user, Secret: secret, URI: otp.URI(secret, site, user), Token: token}
	e.Picture, err = otp.Draw(e.URI)
	return e, err
}

// putTOTP makes an app the user's. The user's document is locked and has none. Errors:
// Authentication for a wrong code, which proves nothing and is not counted: who sets
// an app up knows its secret.
func (s *Service) putTOTP(ctx context.Context, tx document.Tx, user, secret, code string, from Remote) error {
	step, ok := otp.Verify(secret, otp.Clean(cut(code, maxData)), s.now(), 0)
	if !ok {
		return refusal("The code is wrong. Look whether the clock of the device is right, and type in the code that is shown now")
	}
	app := totp{name: random(activityBytes)}
	err := s.insert(ctx, tx, s.factors.dt, app.name, user, map[string]any{
		"user": user, "kind": totpKind, "used": step, "secret": s.secret.Seal(app.sealPurpose(), []byte(secret)),
	})
	if err != nil {
		return err
	}
	return s.Record(ctx, tx, Activity{Operation: factorActivity, User: user, Subject: "Second factor: " + user + " has set up an app", From: from})
}

// BeginLoginEnrolment makes the secret of an app for a login that needs one. before is
// the token of the enrolment that is gone on with; empty: a new one. Errors: Gone.
func (s *Service) BeginLoginEnrolment(token, before, site string) (*Enrolment, error) {
	t, err := s.ticket(token)
	if err != nil {
		return nil, err
	}
	if before != "" {
		if e, err := s.again(before, t.User, site, token); err == nil {
			return e, nil
		}
	}
	return s.newEnrolment(t.User, site, token)
}

// enrolInLogin sets up the app of somebody who needs one to log in.
func (s *Service) enrolInLogin(ctx context.Context, tx document.Tx, user string, login *Login, e entry) (shown evidence, err error) {
	if err := s.putTOTP(ctx, tx, user, e.enrol, e.Code, e.From); err != nil {
		return shown, err
	}
	if login.Codes, err = s.putRecoveryCodes(ctx, tx, user); err != nil {
		return shown, err
	}
	if err := s.EndSessions(ctx, tx, user); err != nil {
		return shown, err
	}
	return e.with(byCode), nil
}
