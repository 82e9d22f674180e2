// Package publisher says who has published a plugin: whose key has signed it, and
// whether the signature fits.
//
// A publisher has a key pair of minisign (Ed25519). The signature is over a
// Statement, which names the plugin, its version and the hash of its manifest and
// module, so that it fits no other plugin, no other version and no changed byte.
// It travels with the plugin as a custom section, after the public key it was made
// with. The key says nothing about whom it belongs to: that is decided by whoever
// trusts it.
package publisher

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aead.dev/minisign"
)

// Section is the custom section of a module that holds the signature.
const Section = "armature.signature"

// Nobody stands for the key of a plugin that is not signed.
const Nobody = "none"

// maxSection bounds the text of a signature, in bytes.
const maxSection = 4 << 10

// Statement is what is signed.
type Statement struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Hash    string `json:"sha256"` // of manifest and module, in hexadecimal
}

// Text is the statement as it is signed. JSON keeps apart what a version, which is
// any text, could make look like another member.
func (s Statement) Text() []byte {
	text, err := json.Marshal(struct {
		Of string `json:"armature"`
		Statement
	}{"plugin", s})
	if err != nil {
		panic(err) // three texts are always JSON
	}
	return append(text, '\n')
}

// Signature is what a bundle says of who has published it. The zero value is that
// of one that is not signed.
type Signature struct {
	Key      string // public key, as minisign writes it; empty: not signed, or unreadable
	Verifies bool   // it was made with the key over this very statement
	Problem  string // why not; empty: it does, or there is none
}

// Signed reports whether there is a signature, good or not.
func (s Signature) Signed() bool { return s.Key != "" || s.Problem != "" }

// Publisher is the key by which the plugin is known; Nobody without a signature.
func (s Signature) Publisher() string {
	if s.Verifies {
		return s.Key
	}
	return Nobody
}

// Err says what is wrong with a signature that does not verify.
func (s Signature) Err() error {
	if s.Problem == "" {
		return nil
	}
	return errors.New(s.Problem)
}

// Read reads the section of a bundle that states s.
func Read(section []byte, s Statement) Signature {
	key, signature, err := split(section)
	if err != nil {
		return Signature{Problem: "the signature cannot be read: " + err.Error()}
	}
	r := minisign.NewReader(bytes.NewReader(s.Text()))
	if err := drain(r); err != nil || !r.Verify(key, signature) {
		return Signature{Key: key.String(), Problem: "the signature does not verify: the plugin, its name or its version were changed after it was signed, or it was signed as another one"}
	}
	return Signature{Key: key.String(), Verifies: true}
}

// split takes a section apart: the two lines of a public key, and the four of a
// signature.
func split(section []byte) (key minisign.PublicKey, signature []byte, err error) {
	lines := bytes.SplitAfterN(section, []byte("\n"), 3)
	if len(lines) < 3 || len(section) > maxSection {
		return key, nil, errors.New("expected a public key of minisign and a signature")
	}
	if err := key.UnmarshalText(slices.Concat(lines[0], lines[1])); err != nil {
		return key, nil, err
	}
	return key, lines[2], nil
}

func drain(r *minisign.Reader) error {
	_, err := (&bytes.Buffer{}).ReadFrom(r)
	return err
}

// Key reads a public key: the line that minisign writes, or its file.
func Key(text string) (string, error) {
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return "", fmt.Errorf("%q is no public key of minisign, which looks like RWQ... and has 56 letters", text)
	}
	return key.String(), nil
}
