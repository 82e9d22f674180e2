package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// MaxPassword is the most bytes a password may have.
const MaxPassword = 512

// The cost of a password: argon2id with 19 MiB, two passes, one thread, the
// least that OWASP's password storage cheat sheet asks for. Stored hashes name
// their cost, so it can be raised later.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16 // bytes
	argonKey     = 32 // bytes
)

// Bounds on the cost that a stored hash may ask for: whoever can write a hash
// must not be able to stop the server with it.
const (
	maxArgonMemory = 1 << 20 // KiB
	maxArgonTime   = 16
)

// HashPassword returns what is stored of a password, in the PHC string format. A
// password that the policy refuses is a Validation fault.
func HashPassword(password string) (string, error) {
	if err := CheckPolicy(password); err != nil {
		return "", err
	}
	return hashPassword(password), nil
}

func hashPassword(password string) string {
	salt := make([]byte, argonSalt)
	rand.Read(salt) // never fails: it ends the program instead
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	return cost + b64.EncodeToString(salt) + "$" + b64.EncodeToString(key)
}

var b64 = base64.RawStdEncoding

// cost is how every hash made today begins.
var cost = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, argonMemory, argonTime, argonThreads)

// noPassword is checked where there is no password to check, so that it takes as
// long: no password is known that it fits.
var noPassword = cost + strings.Repeat("A", b64.EncodedLen(argonSalt)) + "$" + strings.Repeat("A", b64.EncodedLen(argonKey))

// outdated reports whether a hash was made at another cost than hashes are now.
func outdated(hash string) bool { return !strings.HasPrefix(hash, cost) }

// CheckPassword reports whether the password is the one that was hashed. Text
// that is not a hash fits no password. It takes tens of milliseconds.
func CheckPassword(hash, password string) bool {
	if len(password) > MaxPassword {
		return false
	}
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false
	}
	var version int
	var memory, time uint32
	var threads uint8
	if n, err := fmt.Sscanf(parts[2], "v=%d", &version); n != 1 || err != nil || version != argon2.Version {
		return false
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); n != 3 || err != nil {
		return false
	}
	salt, err := b64.DecodeString(parts[4])
	if err != nil {
		return false
	}
	key, err := b64.DecodeString(parts[5])
	if err != nil || len(key) < 16 || threads == 0 || time == 0 || time > maxArgonTime || memory > maxArgonMemory {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, time, memory, threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1
}

// RandomPassword makes a password of 120 random bits that is easy to copy.
func RandomPassword() string { return rand.Text()[:24] }

// SetPassword stores the hash of a user's password, which HashPassword makes:
// outside the transaction, since it takes long and a transaction may run twice.
// The user's sessions end, unless the user has chosen otherwise, and so does
// every OAuth grant.
// The caller needs the role System Manager or to be the user, who alone may be for
// the Administrator (Permission); an unknown user is Missing.
func (s *Service) SetPassword(ctx context.Context, tx document.Tx, caller *identity.Caller, user, hash string) error {
	if err := s.writable(); err != nil {
		return err
	}
	if caller.User != user && !caller.HasRole(identity.SystemManager) {
		return fault.Denied("Only a System Manager may set another user's password")
	}
	if user == identity.Administrator && caller.User != identity.Administrator {
		return fault.Denied("Only the Administrator may set the password of the Administrator")
	}
	doc, err := s.read(ctx, tx, user, true)
	if err != nil {
		return err
	}
	if !logsIn(doc) {
		return noLogin(doc)
	}
	if doc.Bool("logout_all_sessions") {
		if err := s.EndSessions(ctx, tx, user); err != nil {
			return err
		}
	}
	return s.putPassword(ctx, tx, caller, doc, hash, Remote{})
}

// putPassword stores a new hash in a user's document, which the transaction has
// locked. Links made to reset the old password end with it, and no browser is
// remembered.
func (s *Service) putPassword(ctx context.Context, tx document.Tx, caller *identity.Caller, user *doctype.Document, hash string, from Remote) error {
	user.Put("password_hash", hash)
	if err := s.ended(ctx, tx, caller, user.Name()); err != nil {
		return err
	}
	if err := s.endResets(ctx, tx, user.Name()); err != nil {
		return err
	}
	if err := s.forgetBrowsers(ctx, tx, user.Name()); err != nil {
		return err
	}
	act := Activity{Operation: "Password", User: user.Name(), From: from}.Did(caller)
	if err := s.Record(ctx, tx, act); err != nil {
		return err
	}
	return s.save(ctx, tx, caller, user, "password_hash")
}

// HasPassword reports whether a user has a password. With lock the answer stays
// true until the transaction ends.
func (s *Service) HasPassword(ctx context.Context, tx document.Tx, user string, lock bool) (bool, error) {
	doc, err := s.read(ctx, tx, user, lock)
	if err != nil {
		return false, err
	}
	return doc.Text("password_hash") != "", nil
}
