package oauth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
)

// keyName is the DocType of the keys that ID tokens are signed with for clients
// that chose RS256. A site gets its first one when the set is first asked for.
const keyName = "OAuth Signing Key"

const (
	keyBits = 2048 // RFC 7518 section 3.3: at least
	// keyLife is for how long a key signs.
	keyLife = 90 * 24 * time.Hour
	// keyLead is for how long a key is published before it signs, so that clients
	// which keep the key set have it by then.
	keyLead = 24 * time.Hour
	// keyKept is for how long a key stays published after its life.
	keyKept = 7 * 24 * time.Hour
	keysFor = "OAuth signing key "
)

// key is one signing key.
type key struct {
	id      string
	begun   int64 // Unix seconds
	private *rsa.PrivateKey
}

// signingKey is the key that signs now: the newest that has been published for
// long enough, or else the oldest.
func (s *Service) signingKey(ctx context.Context) (*key, error) {
	keys, err := s.keys(ctx)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		if keys, err = s.firstKey(ctx); err != nil {
			return nil, err
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("oauth: the site has no signing key")
	}
	ready := s.c.Now().Add(-keyLead).Unix()
	best := keys[0]
	for _, k := range keys {
		if k.begun <= ready {
			best = k
		}
	}
	return best, nil
}

// firstKey makes the site's first key. Anybody may ask for the key set, so of many
// who do at once one makes it: a key costs a good part of a second.
func (s *Service) firstKey(ctx context.Context) ([]*key, error) {
	s.making.Lock()
	defer s.making.Unlock()
	keys, err := s.keys(ctx)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	if err := s.addKey(ctx); err != nil {
		return nil, err
	}
	return s.keys(ctx)
}

// keys are all keys of the site, the oldest first.
func (s *Service) keys(ctx context.Context) ([]*key, error) {
	v, err := s.c.Auth.Remember(ctx, "oauth keys", func(ctx context.Context) (any, error) {
		return s.readKeys(ctx)
	})
	if err != nil {
		return nil, err
	}
	return v.([]*key), nil
}

func (s *Service) readKeys(ctx context.Context) (keys []*key, err error) {
	dt, err := s.keyType()
	if err != nil {
		return nil, err
	}
	column := func(name string) doctype.Column {
		return doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name}
	}
	sel := &doctype.Select{
		DocType: dt, Columns: []doctype.Column{column("name"), column("begun"), column("sealed")},
		Order: []doctype.OrderBy{{Operand: column("begun").Operand}, {Operand: column("name").Operand}},
	}
	keys = []*key{}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		keys = keys[:0]
		return tx.Rows(ctx, sel, func(v []any) error {
			k := &key{}
			k.id, _ = v[0].(string)
			k.begun, _ = v[1].(int64)
			sealed, _ := v[2].(string)
			raw, err := s.c.Secret.Open(keysFor+k.id, sealed)
			if err != nil {
				return fmt.Errorf("signing key %s: %w", k.id, err)
			}
			if k.private, err = x509.ParsePKCS1PrivateKey(raw); err != nil {
				return fmt.Errorf("signing key %s: %w", k.id, err)
			}
			keys = append(keys, k)
			return nil
		})
	})
	return keys, err
}

func (s *Service) keyType() (*doctype.DocType, error) {
	return s.c.Catalog.Schema().Platform(keyName)
}

// addKey makes a key. Two processes that do so at once make two, and both count.
func (s *Service) addKey(ctx context.Context) error {
	dt, err := s.keyType()
	if err != nil {
		return err
	}
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return err
	}
	id := newID()
	doc := doctype.NewDocument(dt)
	now := s.c.Now()
	stamp := doctype.FormatDatetime(now)
	for field, v := range map[string]any{
		"name": id, "owner": identity.Administrator, "modified_by": identity.Administrator, "creation": stamp, "modified": stamp,
		"begun": now.Unix(), "sealed": s.c.Secret.Seal(keysFor+id, x509.MarshalPKCS1PrivateKey(private)),
	} {
		doc.Put(field, v)
	}
	return s.c.Store.Write(context.WithoutCancel(ctx), document.GroupedTx, func(tx document.Tx) error {
		if err := tx.Insert(ctx, doc); err != nil {
			return err
		}
		return s.c.Auth.Changed(ctx, tx)
	})
}

// rotateKeys makes the next key before the last one's life ends, and deletes those
// that nothing is checked with any more. A site without keys gets none.
func (s *Service) rotateKeys(ctx context.Context) error {
	keys, err := s.readKeys(ctx)
	if err != nil || len(keys) == 0 {
		return err
	}
	now := s.c.Now()
	if keys[len(keys)-1].begun < now.Add(keyLead-keyLife).Unix() {
		if err := s.addKey(ctx); err != nil {
			return err
		}
	}
	dt, err := s.keyType()
	if err != nil {
		return err
	}
	return s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		dropped := false
		for _, k := range keys[:len(keys)-1] {
			if k.begun >= now.Add(-keyLife-keyKept).Unix() {
				continue
			}
			if _, err := tx.Delete(ctx, s.c.Catalog.Schema(), dt, k.id); err != nil {
				return err
			}
			dropped = true
		}
		if !dropped {
			return nil
		}
		return s.c.Auth.Changed(ctx, tx)
	})
}

// jwk is the public half of a key (RFC 7517, RFC 7518 section 6.3.1).
type jwk struct {
	Type      string `json:"kty"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
}

func (k *key) public() jwk {
	b64 := base64.RawURLEncoding
	return jwk{
		Type: "RSA", Use: "sig", Algorithm: rs256, ID: k.id,
		Modulus:  b64.EncodeToString(k.private.N.Bytes()),
		Exponent: b64.EncodeToString(big.NewInt(int64(k.private.E)).Bytes()),
	}
}
