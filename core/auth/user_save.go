package auth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// save stores the given fields of a user's document, which the transaction has
// locked, and makes every process forget the credentials it knows.
func (s *Service) save(ctx context.Context, tx document.Tx, caller *identity.Caller, doc *doctype.Document, fields ...string) error {
	doc.Put("modified", doctype.FormatDatetime(s.now()))
	doc.Put("modified_by", caller.User)
	var cols []*doctype.Field
	for _, name := range append(fields, "modified", "modified_by") {
		cols = append(cols, doc.Type.Field(name))
	}
	ok, err := tx.Update(ctx, nil, doc, cols, nil, "")
	if err != nil {
		return err
	}
	if !ok {
		return fault.Missing("User %s not found", doc.Name())
	}
	return s.Changed(ctx, tx)
}

// Changed is for everybody who has changed what credentials depend on: users,
// roles, keys, sessions. Every process sees it after the commit, this one at
// once and the others within half a second.
func (s *Service) Changed(ctx context.Context, tx document.Tx) error {
	if err := tx.BumpEpoch(ctx); err != nil {
		return err
	}
	tx.AfterCommit(s.known.forget)
	return nil
}

// Forget has the next request read everything again, for who has just learnt that
// another process has changed it.
func (s *Service) Forget() { s.known.forget() }

// read reads a user's document, and locks it until the transaction ends.
func (s *Service) read(ctx context.Context, tx document.Tx, user string, lock bool) (*doctype.Document, error) {
	if user == identity.Guest {
		return nil, fault.Invalid("", "Guest has no credentials")
	}
	dt, err := s.docType("User")
	if err != nil {
		return nil, err
	}
	return tx.Get(ctx, s.catalog.Schema(), dt, user, lock)
}
