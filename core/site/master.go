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

// Master is the key of the whole installation. It does one thing: it seals the
// keys of the sites, so that copying a site's folder copies no secret.
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
	text, err := createOnce(file, func() ([]byte, error) {
		return []byte(hex.EncodeToString(randomKey()) + "\n"), nil
	})
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	m, err := ParseMaster(string(text))
	if err != nil {
		return nil, fmt.Errorf("master key: %s: %w", file, err)
	}
	return m, nil
}

// Secret reads the sealed key of a site from the file, and makes one when there
// is none. A key sealed by another master is ErrWrongMaster.
func (m *Master) Secret(site, file string) (*Secret, error) {
	purpose := "site key " + site
	text, err := createOnce(file, func() ([]byte, error) {
		return []byte(m.box.Seal(purpose, randomKey()) + "\n"), nil
	})
	if err != nil {
		return nil, fmt.Errorf("key of site %s: %w", site, err)
	}
	key, err := m.box.Open(purpose, strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("key of site %s: %s: %w", site, file, ErrWrongMaster)
	}
	return newSecret(key), nil
}

func randomKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails: it ends the program instead
	return key
}

// createOnce returns what the file holds; if there is none it is made with what
// content returns. Two processes that start at once agree on one of the two:
// the file appears complete or not at all, and the second to link it loses.
func createOnce(file string, content func() ([]byte, error)) ([]byte, error) {
	text, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	text, err = content()
	if err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	if err := writeAndClose(tmp, text); err != nil {
		return nil, err
	}
	err = os.Link(tmp.Name(), file)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
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
