package oauth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// secretPurpose ties a sealed secret to its client: one that was moved to another
// client does not open.
func secretPurpose(id string) string { return "OAuth Client secret " + id }

// Sealed are the fields that hold secrets sealed for purposes of this package, by
// DocType and field: the purpose of the one in the document of a name.
func Sealed() map[[2]string]func(name string) string {
	return map[[2]string]func(string) string{
		{clientName, "sealed_secret"}: secretPurpose,
		{keyName, "sealed"}:           func(name string) string { return keysFor + name },
	}
}

func (s *Service) seal(id, secret string) string {
	return s.c.Secret.Seal(secretPurpose(id), []byte(secret))
}

// unseal returns a client's secret in clear: it is the key of the client's ID
// tokens, so a hash would not do.
func (s *Service) unseal(doc *doctype.Document) (string, error) {
	secret, err := s.c.Secret.Open(secretPurpose(doc.Name()), doc.Text("sealed_secret"))
	if err != nil {
		return "", fmt.Errorf("secret of OAuth client %s: %w", doc.Name(), err)
	}
	return string(secret), nil
}

// newID is a client id or a grant id: 80 random bits are never the same twice.
func newID() string {
	var raw [10]byte
	rand.Read(raw[:]) // never fails: it ends the program instead
	return hex.EncodeToString(raw[:])
}

// RotateSecret gives a client another secret, which is returned this once; the one
// before it stops working. The caller needs the role System Manager (Permission);
// an unknown client is Missing.
func (s *Service) RotateSecret(ctx context.Context, tx document.Tx, caller *identity.Caller, id string) (string, error) {
	if !caller.HasRole(identity.SystemManager) {
		return "", fault.Denied("Only a System Manager may change the secret of a client")
	}
	sc := s.c.Catalog.Schema()
	dt, err := sc.Platform(clientName)
	if err != nil {
		return "", err
	}
	doc, err := tx.Get(ctx, sc, dt, id, true)
	if err != nil {
		return "", err
	}
	secret := random()
	doc.Put("sealed_secret", s.seal(id, secret))
	doc.Put("modified", doctype.FormatDatetime(s.c.Now()))
	doc.Put("modified_by", caller.User)
	columns := []*doctype.Field{dt.Field("sealed_secret"), dt.Field("modified"), dt.Field("modified_by")}
	ok, err := tx.Update(ctx, nil, doc, columns, nil, "")
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fault.Missing("OAuth Client %s not found", id)
	}
	act := auth.Activity{Operation: clientName, Client: id, User: caller.User, Subject: "Another secret was made for " + doc.Text("app_name")}
	if err := s.c.Auth.Record(ctx, tx, act.Did(caller)); err != nil {
		return "", err
	}
	return secret, s.c.Auth.Changed(ctx, tx)
}
