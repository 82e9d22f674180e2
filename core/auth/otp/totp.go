// Package otp is one-time codes as a second factor: those an authenticator app
// shows (TOTP, RFC 6238) and recovery codes. It keeps nothing: which code was used
// before is the caller's to know.
package otp

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

const (
	// period is how long a code is shown, in seconds (RFC 6238 section 5.2).
	period = 30
	// drift is how many periods the clock of a phone may be off: RFC 6238 section 5.2
	// recommends one at most.
	drift = 1
	// secretBytes is the length of a secret, which RFC 4226 section 4 recommends.
	secretBytes = 20
	// digits of a code. Apps are known that ignore any other number.
	digits = otp.DigitsSix
)

// NewSecret makes the secret of an authenticator app: 160 random bits in base32, as
// people type it in.
func NewSecret() string {
	var raw [secretBytes]byte
	rand.Read(raw[:]) // never fails: it ends the program instead
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

// Verify reports whether a code is the one of a secret at that time, or one period
// earlier or later, and in which period it was. Periods up to and with after do not
// count: a code is good once (RFC 6238 section 5.2).
func Verify(secret, code string, at time.Time, after int64) (step int64, ok bool) {
	if len(code) != digits.Length() {
		return 0, false
	}
	now := at.Unix() / period
	for step = max(now-drift, after+1); step <= now+drift; step++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(step), hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false // the secret is none
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, true
		}
	}
	return 0, false
}

// URI is what an app reads out of the picture: the secret, and whose it is where. Its
// form is that of the Key URI Format of Google Authenticator.
func URI(secret, issuer, account string) string {
	// The colon stands between the two names.
	issuer = strings.ReplaceAll(issuer, ":", " ")
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + account}
	// Apps do not read a plus as a space.
	u.RawQuery = strings.ReplaceAll(url.Values{"secret": {secret}, "issuer": {issuer}}.Encode(), "+", "%20")
	return u.String()
}

// Clean is a code as it was meant: people type spaces and hyphens as they are shown,
// and small letters.
func Clean(code string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '-' {
			return -1
		}
		return unicode.ToUpper(c)
	}, code)
}
