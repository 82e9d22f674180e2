package passkey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// handleBytes is the length of the handle of a user: random, so that an authenticator
// which tells it tells nobody who that is (section 14.6.1).
const handleBytes = 32

// User is somebody who has passkeys or makes one.
type User struct {
	Handle []byte // the same for all passkeys of the user
	Name   string // as the user logs in
	Full   string // as people say it
}

// NewHandle makes the handle of a user who has no passkey yet.
func NewHandle() []byte {
	handle := make([]byte, handleBytes)
	rand.Read(handle) // never fails: it ends the program instead
	return handle
}

// Key is the public half of a passkey.
type Key struct{ credential webauthn.Credential }

// Parse reads what Text has written.
func Parse(text string) (Key, error) {
	var k Key
	return k, json.Unmarshal([]byte(text), &k.credential)
}

// Text is the key as it is kept. It holds no secret.
func (k Key) Text() (string, error) {
	text, err := json.Marshal(k.credential)
	return string(text), err
}

// Synced reports whether the key may leave its device, as those of password managers
// do: its BE flag (section 6.1.3).
func (k Key) Synced() bool { return k.credential.Flags.BackupEligible }

// Name is the name under which a passkey is found by its credential's id.
func Name(credential []byte) string {
	sum := sha256.Sum256(credential)
	return hex.EncodeToString(sum[:])
}

// Name is that of Name for the key itself.
func (k Key) Name() string { return Name(k.credential.ID) }

// owner is a user with keys as the library wants them.
type owner struct {
	User
	keys []webauthn.Credential
}

func owned(u User, keys []Key) *owner {
	o := &owner{User: u}
	for _, k := range keys {
		o.keys = append(o.keys, k.credential)
	}
	return o
}

func (o *owner) descriptors() (list []protocol.CredentialDescriptor) {
	for _, c := range o.keys {
		list = append(list, c.Descriptor())
	}
	return list
}

func (o *owner) WebAuthnID() []byte                         { return o.Handle }
func (o *owner) WebAuthnName() string                       { return o.User.Name }
func (o *owner) WebAuthnDisplayName() string                { return o.Full }
func (o *owner) WebAuthnCredentials() []webauthn.Credential { return o.keys }
