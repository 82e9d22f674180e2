package site

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keySize is the length of every key here, in bytes.
const keySize = 32

// ErrWrongMaster is returned when a site's key was sealed with another master
// key than the one given.
var ErrWrongMaster = errors.New("the master key is not the one this data was sealed with")

// Master is the key of the whole installation. It seals the keys of the sites, so
// that copying a site's folder copies no secret, and their configurations where
// those are in a database.
type Master struct{ box *Secret }

// ParseMaster reads a master key as written in ARMATURE_SECRET_KEY or
// secret.key: 32 bytes as 64 hexadecimal digits or as base64.
func ParseMaster(text string) (*Master, error) {
	text = strings.TrimSpace(text)
	key, err := hex.DecodeString(text)
	if err != nil {
		key, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("a master key is %d random bytes, written as %d hexadecimal digits or as base64", keySize, 2*keySize)
	}
	return &Master{box: newSecret(key)}, nil
}

// LoadMaster reads the master key from the file, and makes the file with a
// random key, readable by its owner only, when there is none.
func LoadMaster(file string) (*Master, error) {
	text, err := createOnce(file, []byte(hex.EncodeToString(randomKey())+"\n"))
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	m, err := ParseMaster(string(text))
	if err != nil {
		return nil, fmt.Errorf("master key: %s: %w", file, err)
	}
	return m, nil
}

// What the master key seals site keys for. The first is from before formats of sites
// had numbers: binaries of that time would bring a site of a later format back to
// theirs, so they must not get its key.
const (
	purposeUnnumbered = "site key"
	purpose           = "key of a site of a numbered format"
)

// NewSecret makes the secret of a new site, and the sealed text from which
// OpenSecret makes it again.
func (m *Master) NewSecret() (sealed string, s *Secret) {
	key := randomKey()
	return m.box.Seal(purpose, key), newSecret(key)
}

// OpenSecret makes a site's secret from its sealed text; ErrWrongMaster when that
// was sealed with another master key.
func (m *Master) OpenSecret(sealed string) (*Secret, error) {
	key, err := m.Key(sealed)
	if err != nil {
		return nil, err
	}
	return newSecret(key), nil
}

// Key opens the sealed text of a site's key, for a backup that seals it under
// something else; ErrWrongMaster as for OpenSecret.
func (m *Master) Key(sealed string) ([]byte, error) {
	key, err := m.box.Open(purpose, sealed)
	if err != nil {
		key, err = m.box.Open(purposeUnnumbered, sealed)
	}
	if err != nil || len(key) != keySize {
		return nil, ErrWrongMaster
	}
	return key, nil
}

// Reseal returns the sealed text of a site's key as sites of a numbered format
// have it: a new key for "", the text itself where it is one already;
// ErrWrongMaster as for OpenSecret.
func (m *Master) Reseal(sealed string) (string, error) {
	if sealed == "" {
		sealed, _ = m.NewSecret()
		return sealed, nil
	}
	if _, err := m.box.Open(purpose, sealed); err == nil {
		return sealed, nil
	}
	key, err := m.Key(sealed)
	if err != nil {
		return "", err
	}
	return m.SealKey(key)
}

// SealKey seals the key of a site that comes from elsewhere.
func (m *Master) SealKey(key []byte) (sealed string, err error) {
	if len(key) != keySize {
		return "", fmt.Errorf("the key of a site is %d bytes", keySize)
	}
	return m.box.Seal(purpose, key), nil
}

// configPurpose is what the master key seals a site's configuration for.
func configPurpose(site string) string { return "site configuration " + site }

// SealConfig seals the text of a site's configuration, in which there may be
// passwords of mail servers and buckets.
func (m *Master) SealConfig(site string, text []byte) (sealed string) {
	return m.box.Seal(configPurpose(site), text)
}

// OpenConfig opens what SealConfig sealed for the same site; ErrWrongMaster when
// another master key did.
func (m *Master) OpenConfig(site, sealed string) ([]byte, error) {
	text, err := m.box.Open(configPurpose(site), sealed)
	if err != nil {
		return nil, ErrWrongMaster
	}
	return text, nil
}

func randomKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails: it ends the program instead
	return key
}

// createOnce returns what the file holds; if there is none it is made with the
// content. Two processes that start at once agree on one of the two: the file
// appears complete or not at all, and the second to link it loses.
func createOnce(file string, content []byte) ([]byte, error) {
	text, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	if err := writeAndClose(tmp, content); err != nil {
		return nil, err
	}
	err = os.Link(tmp.Name(), file)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// writeAndClose leaves the text on the disk: a key that a power cut takes away
// takes everything it sealed with it.
func writeAndClose(f *os.File, text []byte) error {
	_, err := f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
