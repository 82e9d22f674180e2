package passkey

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Question is what a browser is asked: Options is the argument of
// navigator.credentials.create or get as JSON (sections 5.4 and 5.5), State what the
// answer is compared with and no client may choose.
type Question struct {
	Options   json.RawMessage
	State     json.RawMessage
	Challenge string
}

func question(options any, session *webauthn.SessionData) (*Question, error) {
	q := &Question{Challenge: session.Challenge}
	var err error
	if q.Options, err = json.Marshal(options); err != nil {
		return nil, err
	}
	q.State, err = json.Marshal(session)
	return q, err
}

// Challenge is the challenge of a question's state.
func Challenge(state json.RawMessage) (string, error) {
	var s webauthn.SessionData
	err := json.Unmarshal(state, &s)
	return s.Challenge, err
}

// Create asks for a new passkey of a user who has those keys, which are not made twice.
func (p Party) Create(u User, have []Key) (*Question, error) {
	w, err := p.relying()
	if err != nil {
		return nil, err
	}
	o := owned(u, have)
	options, session, err := w.BeginRegistration(o, webauthn.WithExclusions(o.descriptors()))
	if err != nil {
		return nil, err
	}
	return question(options.Response, session)
}

// Created checks the answer to Create (section 7.1). verified is whether the
// authenticator has made sure that it is its owner. Every error is a refusal.
func (p Party) Created(u User, state, answer json.RawMessage) (k Key, verified bool, err error) {
	w, session, err := p.resume(state)
	if err != nil {
		return k, false, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return k, false, told(err)
	}
	made, err := w.CreateCredential(owned(u, nil), *session, parsed)
	if err != nil {
		return k, false, told(err)
	}
	if len(made.ID) > maxID {
		return k, false, errors.New("the id of the credential is too long")
	}
	// What an authenticator says of its maker is not kept: nobody asked.
	made.Attestation = webauthn.CredentialAttestation{}
	return Key{*made}, made.Flags.UserVerified, nil
}

// maxID is the longest id of a credential (section 5.4.3 of Level 3).
const maxID = 1023

// Ask asks for a passkey. keys are those of a user who is known, any of whose does; of
// somebody unknown any passkey that says by itself whose it is, and whose authenticator
// has made sure that it is its owner: it stands alone.
func (p Party) Ask(u *User, keys []Key) (*Question, error) {
	w, err := p.relying()
	if err != nil {
		return nil, err
	}
	var options *protocol.CredentialAssertion
	var session *webauthn.SessionData
	if u == nil {
		options, session, err = w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	} else {
		options, session, err = w.BeginLogin(owned(*u, keys))
	}
	if err != nil {
		return nil, err
	}
	return question(options.Response, session)
}

// Answer is an answer to Ask whose signature nobody has checked yet.
type Answer struct {
	Passkey string // as Name says it
	Handle  []byte // of the user, where the authenticator tells it

	parsed *protocol.ParsedCredentialAssertionData
}

// Read reads an answer to Ask.
func Read(answer json.RawMessage) (*Answer, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, told(err)
	}
	return &Answer{Passkey: Name(parsed.RawID), Handle: parsed.Response.UserHandle, parsed: parsed}, nil
}

// Shown is what an answer has shown.
type Shown struct {
	Key      Key  // as it is to be kept now
	Verified bool // the authenticator has made sure that it is its owner
	Copied   bool // its counter went back: there may be two of the key (section 6.1.1)
}

// Check checks an answer to Ask (section 7.2) by the keys of the user whose passkey it
// is. Every error is a refusal.
func (p Party) Check(u User, keys []Key, state json.RawMessage, a *Answer) (*Shown, error) {
	w, session, err := p.resume(state)
	if err != nil {
		return nil, err
	}
	o := owned(u, keys)
	var found *webauthn.Credential
	if len(session.UserID) == 0 {
		_, found, err = w.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return o, nil }, *session, a.parsed)
	} else {
		found, err = w.ValidateLogin(o, *session, a.parsed)
	}
	if err != nil {
		return nil, told(err)
	}
	copied := found.Authenticator.CloneWarning
	found.Authenticator.CloneWarning = false
	return &Shown{Key: Key{*found}, Verified: a.parsed.Response.AuthenticatorData.Flags.HasUserVerified(), Copied: copied}, nil
}

func (p Party) resume(state json.RawMessage) (*webauthn.WebAuthn, *webauthn.SessionData, error) {
	w, err := p.relying()
	if err != nil {
		return nil, nil, err
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return nil, nil, err
	}
	// The id may have changed since the question.
	if session.RelyingPartyID != p.ID {
		return nil, nil, errors.New("the question was asked for another party")
	}
	return w, &session, nil
}

// told is an error of the library with what it says to developers: for the log.
func told(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.DevInfo != "" {
		return fmt.Errorf("%w: %s", err, e.DevInfo)
	}
	return err
}

// Handle is the handle of the user a passkey was asked of.
func Handle(state json.RawMessage) ([]byte, error) {
	var s webauthn.SessionData
	err := json.Unmarshal(state, &s)
	return s.UserID, err
}
