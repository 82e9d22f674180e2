package auth

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"armature/core/auth/passkey"
	"armature/core/document"
	"armature/core/fault"
)

// passkeyWait is how long a question may wait for its answer.
const passkeyWait = 10 * time.Minute

// maxPasskeyAnswer is how long an answer may be.
const maxPasskeyAnswer = 32 << 10

// PasskeyQuestion is what a browser is asked for a passkey.
type PasskeyQuestion struct {
	Options json.RawMessage // the argument of navigator.credentials.create or get, as JSON
	Token   string          // goes back with the answer; sealed for who has asked
}

// PasskeyAnswer is what came of it.
type PasskeyAnswer struct {
	Token  string
	Answer string // PublicKeyCredential.toJSON() of the browser
	Site   string // what the site is called
	Origin string // of the page, scheme://host[:port]
}

// asked is what the token says.
type asked struct {
	State json.RawMessage
	Until int64 // seconds
}

// What is asked for: a token for one counts for no other.
const (
	toLogIn = "log in with a passkey"
	toProve = "a passkey beside the password"
	toEnrol = "make a passkey"
)

// ask seals a question for its holder, which is what only the browser has that asks: a
// cookie, a session's id, the token of a Challenge. An answer that somebody else was
// given, or in another browser, fits to nothing.
func (s *Service) ask(q *passkey.Question, purpose, holder string) (*PasskeyQuestion, error) {
	text, err := json.Marshal(asked{State: q.State, Until: s.now().Add(passkeyWait).Unix()})
	if err != nil {
		return nil, err
	}
	return &PasskeyQuestion{Options: q.Options, Token: s.secret.Seal(purpose+" by "+holder, text)}, nil
}

// tooLate is said of a question that is none, too old, or was answered.
const tooLate = "That took too long, or was used before: choose the passkey once more"

// open returns the question's state. Errors: Authentication.
func (s *Service) opened(token, purpose, holder string) (json.RawMessage, error) {
	var a asked
	text, err := s.secret.Open(purpose+" by "+holder, token)
	if err != nil || json.Unmarshal(text, &a) != nil || a.Until <= s.now().Unix() {
		return nil, refusal(tooLate)
	}
	return a.State, nil
}

// spendChallenge has a question be answered once, on whichever server. Errors:
// Authentication when it was; a Conflict where another one does so at this moment, on
// which the transaction is tried again.
func (s *Service) spendChallenge(ctx context.Context, tx document.Tx, user string, state json.RawMessage) (refused, err error) {
	challenge, err := passkey.Challenge(state)
	if err != nil {
		return nil, err
	}
	dt, name := s.factors.spent, hex.EncodeToString(s.secret.MAC("challenge of a passkey", challenge))
	switch _, err := tx.Get(ctx, s.catalog.Schema(), dt, name, false); {
	case err == nil:
		return refusal(tooLate), nil
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	if err := s.sweepChallenges(ctx, tx); err != nil {
		return nil, err
	}
	return nil, s.insert(ctx, tx, dt, name, user, map[string]any{"expires": s.now().Add(passkeyWait).Unix()})
}
