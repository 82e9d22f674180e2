package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

const (
	// keyBytes is the length of a key before it is written in hexadecimal.
	keyBytes = 16
	// secretBytes is the same for a secret.
	secretBytes = 32
	// maxCredential is the longest key or secret that is worth a look-up.
	maxCredential = 140
	// hashPrefix names how the stored hash was made.
	hashPrefix = "hmac1:"
)

// Keys is what a program authenticates with. The secret exists only here: the
// site stores its hash.
type Keys struct {
	Key    string `json:"api_key"`
	Secret string `json:"api_secret"`
}

// GenerateKeys gives a user a new secret, and a key if there is none yet; the
// secret before it stops working. The caller needs the role System Manager, and
// keys of the Administrator, who passes every check, are made by the Administrator
// alone (Permission), as are those of a user with a second factor by who has shown one;
// an unknown user is Missing. A caller who is narrowed by scopes makes none, nor one of NewKey.
func (s *Service) GenerateKeys(ctx context.Context, tx document.Tx, caller *identity.Caller, user string) (Keys, error) {
	if err := s.writable(); err != nil {
		return Keys{}, err
	}
	// It would make one that can do more than itself, or lives longer.
	if caller.Scopes != nil || caller.Key != "" {
		return Keys{}, fault.Denied("Keys are made by whoever is logged in: an access token makes none, nor does a key that has a name")
	}
	if !caller.HasRole(identity.SystemManager) {
		return Keys{}, fault.Denied("Only a System Manager may generate keys")
	}
	if user == identity.Administrator && caller.User != identity.Administrator {
		return Keys{}, fault.Denied("Only the Administrator may generate keys of the Administrator")
	}
	doc, err := s.read(ctx, tx, user, true)
	if err != nil {
		return Keys{}, err
	}
	if isPlugin(doc) {
		return Keys{}, noLogin(doc)
	}
	if err := s.proved(ctx, tx, caller, doc); err != nil {
		return Keys{}, err
	}
	keys := Keys{Key: doc.Text("api_key"), Secret: random(secretBytes)}
	if keys.Key == "" {
		keys.Key = random(keyBytes)
	}
	doc.Put("api_key", keys.Key)
	doc.Put("api_secret", s.hashSecret(keys.Key, keys.Secret))
	if err := s.Record(ctx, tx, Activity{Operation: "Keys", User: user}.Did(caller)); err != nil {
		return Keys{}, err
	}
	return keys, s.save(ctx, tx, caller, doc, "api_key", "api_secret")
}

// proved refuses to give out keys of a user who logs in with a second factor to whoever
// has shown none: a key would be the way around it.
func (s *Service) proved(ctx context.Context, tx document.Tx, caller *identity.Caller, user *doctype.Document) error {
	if caller.Proved {
		return nil
	}
	given, err := s.roles(ctx, tx, user)
	if err != nil {
		return err
	}
	has, err := s.hasFactor(ctx, tx, user.Name())
	if err != nil || !has && !given.factor && !s.flag(requireFactorSetting) {
		return err
	}
	return fault.New(fault.Permission, factorMissing, "User %s logs in with a second factor: keys are made by who is logged in with one, or at the command line", user.Name())
}

// byKey returns the user who owns the key if the secret is right.
func (s *Service) byKey(ctx context.Context, key, secret string) (*identity.Caller, error) {
	if key == "" || secret == "" || len(key) > maxCredential || len(secret) > maxCredential {
		return nil, wrong("a key or secret of impossible length")
	}
	g, err := s.known.generation(ctx)
	if err != nil {
		return nil, err
	}
	hash := s.hashSecret(key, secret)
	e := g.key(key)
	if e != nil && equal(e.hash, hash) {
		return e.caller, s.useKey(ctx, key, e)
	}
	// Also when the key is known but its secret differs: it may just have been
	// replaced, and the new one works at once.
	lookUp := s.lookUp
	if strings.HasPrefix(key, markOfNamed) {
		lookUp = s.lookUpNamed
	}
	if e, err = lookUp(ctx, key, hash); err != nil {
		return nil, failed(err)
	}
	g.putKey(key, e)
	return e.caller, s.useKey(ctx, key, e)
}

// lookUp reads who owns a key from the database and compares the hash.
func (s *Service) lookUp(ctx context.Context, key, hash string) (*keyEntry, error) {
	dt, err := s.docType("User")
	if err != nil {
		return nil, err
	}
	e := &keyEntry{hash: hash}
	byKey := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("api_key")}, Op: query.Eq, Value: key},
		Length:  1,
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		var name string
		if err := tx.Rows(ctx, byKey, func(values []any) error {
			name, _ = values[0].(string)
			return nil
		}); err != nil {
			return err
		}
		if name == "" {
			return wrong("unknown key")
		}
		doc, err := tx.Get(ctx, s.catalog.Schema(), dt, name, false)
		if err != nil {
			return err
		}
		// The key is compared here as well: a database may take "A" for "a".
		if !equal(doc.Text("api_key"), key) || !equal(doc.Text("api_secret"), hash) {
			return wrong("wrong secret")
		}
		e.caller, err = s.callerOf(ctx, tx, doc)
		return err
	})
	return e, err
}

// hashSecret is what is stored of a secret. A secret is 32 random bytes, so one
// round of a keyed hash is enough: there is nothing to guess. The key goes in
// too, so that a hash is worthless on another user.
func (s *Service) hashSecret(key, secret string) string {
	var mac [sha256.Size]byte
	text := make([]byte, len(hashPrefix), len(hashPrefix)+2*len(mac))
	copy(text, hashPrefix)
	return string(hex.AppendEncode(text, s.secret.AppendMAC(mac[:0], "api secret", key, ":", secret)))
}

// equal compares in constant time.
func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: it ends the program instead
	return hex.EncodeToString(b)
}
