package otp

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

const (
	// recoveryCodes is how many there are at once.
	recoveryCodes = 10
	// recoveryBytes is the length of one: 80 random bits, which nobody guesses.
	recoveryBytes = 10
	// recoveryLetters is the same in letters.
	recoveryLetters = recoveryBytes * 8 / 5
)

// letters are Crockford's: without I, L, O and U, which are read as others.
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// NewRecoveryCodes makes codes that let their user in once each, where the app is
// lost.
func NewRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		var raw [recoveryBytes]byte
		rand.Read(raw[:]) // never fails: it ends the program instead
		codes[i] = letters.EncodeToString(raw[:])
	}
	return codes
}

// Shown is a recovery code in groups of four, as it is written down.
func Shown(code string) string {
	var groups []string
	for len(code) > 4 {
		groups, code = append(groups, code[:4]), code[4:]
	}
	return strings.Join(append(groups, code), "-")
}

// Recovery reports whether a clean code may be a recovery code, and how it is
// written: letters that nobody can tell apart are one.
func Recovery(code string) (string, bool) {
	code = strings.NewReplacer("I", "1", "L", "1", "O", "0").Replace(code)
	return code, len(code) == recoveryLetters
}
