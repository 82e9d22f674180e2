package publisher

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"aead.dev/minisign"
)

// Secret is a publisher's secret key.
type Secret struct{ key minisign.PrivateKey }

// ErrPassphrase says that a secret key needs a passphrase, or another one.
var ErrPassphrase = errors.New("the passphrase does not open the secret key")

// Generate makes a key pair: the texts of the two files. Without a passphrase the
// secret one is not encrypted. With one it takes a second and 1 GiB of memory, as
// minisign does.
func Generate(passphrase string) (secret, public []byte, err error) {
	pub, key, err := minisign.GenerateKey(nil)
	if err != nil {
		return nil, nil, err
	}
	if public, err = pub.MarshalText(); err != nil {
		return nil, nil, err
	}
	if passphrase == "" {
		secret, err = key.MarshalText()
	} else {
		secret, err = minisign.EncryptKey(passphrase, key)
	}
	return append(secret, '\n'), append(public, '\n'), err
}

// Encrypted reports whether a secret key needs a passphrase.
func Encrypted(secret []byte) bool { return minisign.IsEncrypted(bytes.TrimSpace(secret)) }

// Open reads a secret key. ErrPassphrase: the passphrase is not its.
func Open(secret []byte, passphrase string) (Secret, error) {
	secret = bytes.TrimSpace(secret)
	if minisign.IsEncrypted(secret) {
		key, err := minisign.DecryptKey(passphrase, secret)
		if err != nil {
			return Secret{}, ErrPassphrase
		}
		return Secret{key}, nil
	}
	var key minisign.PrivateKey
	if err := key.UnmarshalText(secret); err != nil {
		return Secret{}, fmt.Errorf("not a secret key of minisign: %w", err)
	}
	return Secret{key}, nil
}

// Public is the public key that belongs to it.
func (s Secret) Public() string {
	if key, ok := s.key.Public().(minisign.PublicKey); ok {
		return key.String()
	}
	return ""
}

// Sign makes the section of a bundle that states what it says.
func (s Secret) Sign(what Statement) ([]byte, error) {
	public, ok := s.key.Public().(minisign.PublicKey)
	if !ok {
		return nil, errors.New("the secret key has no public one")
	}
	text, err := public.MarshalText()
	if err != nil {
		return nil, err
	}
	r := minisign.NewReader(bytes.NewReader(what.Text()))
	if err := drain(r); err != nil {
		return nil, err
	}
	comment := fmt.Sprintf("armature plugin %s %q", what.Name, what.Version)
	return slices.Concat(text, []byte("\n"), r.SignWithComments(s.key, comment, "signature of a plugin")), nil
}
