package auth

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

// MinPassword is the fewest letters a password may have.
const MinPassword = 8

// common is the passwords that are tried first, in lower case, one in a line.
//
//go:embed common_passwords.txt
var common string

// CheckPolicy refuses a password that is too short, too long or too common
// (Validation).
func CheckPolicy(password string) error {
	if utf8.RuneCountInString(password) < MinPassword || len(password) > MaxPassword {
		return fault.Invalid("", "A password has %d to %d characters", MinPassword, MaxPassword)
	}
	if strings.Contains("\n"+common, "\n"+strings.ToLower(password)+"\n") && !strings.Contains(password, "\n") {
		return fault.Invalid("", "This password is one of the most common ones")
	}
	if strings.Count(password, password[:1]) == len(password) {
		return fault.Invalid("", "This password is one letter repeated")
	}
	return nil
}
