package document

import (
	"context"
	"errors"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

func (s *Service) discard(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name string) (*doctype.Document, error) {
	before, err := s.get(ctx, tx, caller, typeName, name, access.Write, true)
	if err != nil {
		return nil, err
	}
	if !before.Type.Submittable || before.Docstatus() != draft {
		return nil, fault.Invalid("DocstatusTransitionError", "Only drafts of documents that can be submitted are discarded")
	}
	doc := before.Clone()
	doc.Put("docstatus", int64(cancelled))
	s.stamp(doc, before, caller)
	if err := s.fire(ctx, BeforeDiscard, tx, caller, doc, before); err != nil {
		return nil, err
	}
	leads, err := s.may(tx, caller).Outcome(ctx, doc.Type)
	if err != nil {
		return nil, err
	}
	if err := leads.Admit(ctx, doc); err != nil {
		return nil, err
	}
	if err := s.save(ctx, tx, caller, doc, before); err != nil {
		return nil, err
	}
	if err := leads.Stored(ctx, doc); err != nil {
		return nil, err
	}
	return doc, s.fire(ctx, OnDiscard, tx, caller, doc, before)
}

// lost says why a write did not happen: a link that leads nowhere, or somebody
// else's write between our read and ours.
func (s *Service) lost(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	if err := s.checkLinks(ctx, tx, doc, before); err != nil {
		return err
	}
	return ErrLost
}

// insertRow writes a new document if what it links to exists.
func (s *Service) insertRow(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	if err := s.grow(ctx, tx, doc, before); err != nil {
		return err
	}
	needs, err := s.needs(ctx, tx, doc, before)
	if err != nil {
		return err
	}
	if err := tx.Insert(ctx, doc, needs...); !errors.Is(err, ErrUnmet) {
		return err
	}
	return s.lost(ctx, tx, doc, before)
}

// save writes what a change of a stored document changed, if what it newly
// links to exists.
func (s *Service) save(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	if err := s.grow(ctx, tx, doc, before); err != nil {
		return err
	}
	needs, err := s.needs(ctx, tx, doc, before)
	if err != nil {
		return err
	}
	columns, tables := changed(doc, before)
	ok, err := tx.Update(ctx, s.Schema(), doc, columns, tables, before.Modified(), needs...)
	if err != nil {
		return err
	}
	if !ok {
		return s.lost(ctx, tx, doc, before)
	}
	return s.keepVersion(ctx, tx, caller, doc, before)
}

// commentName is the DocType that keeps what is said about documents.
const commentName = "Comment"

func (s *Service) addComment(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name, kind, text string) (*doctype.Document, error) {
	dt, err := s.lookup(commentName)
	if err != nil {
		return nil, err
	}
	if _, err := s.get(ctx, tx, caller, typeName, name, access.Read, false); err != nil {
		return nil, err
	}
	if caller.Frame != nil { // whose plugin has to be granted it; a token that reads may comment
		if err := s.may(tx, caller).InScope(dt, access.Create); err != nil {
			return nil, err
		}
	}
	values := map[string]any{
		"reference_doctype": typeName, "reference_name": name, "content": text,
		"comment_by": caller.FullName, "comment_email": caller.User,
	}
	if kind != "" {
		values["comment_type"] = kind
	}
	return s.insert(ctx, tx, s.may(tx, caller), dt, values, access.AllLevels, nil)
}
