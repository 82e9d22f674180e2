package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// Acting is a Caller within a transaction: what one may do with documents, each
// method of which asks whether one may. The transaction ends elsewhere, so an
// Acting is made where it is used and not kept.
type Acting struct {
	s      *Service
	tx     Tx
	caller *identity.Caller
}

// As is what the caller does within the transaction.
func (s *Service) As(caller *identity.Caller, tx Tx) Acting { return Acting{s, tx, caller} }

// Get reads one document the caller may read. A Single that was never saved
// reads as its defaults.
func (a Acting) Get(ctx context.Context, typeName, name string) (*doctype.Document, error) {
	return a.s.get(ctx, a.tx, a.caller, typeName, name, access.Read, false)
}

// GetToChange reads a document that the caller may read and write, and keeps
// others from changing it until the transaction ends. In a Tx that only reads it
// locks nothing.
func (a Acting) GetToChange(ctx context.Context, typeName, name string) (*doctype.Document, error) {
	if _, err := a.s.get(ctx, a.tx, a.caller, typeName, name, access.Write, true); err != nil {
		return nil, err
	}
	return a.Get(ctx, typeName, name)
}

// Demand reads one document on which the caller has a right. Errors: Denied
// without it, Missing for an unknown DocType or document.
func (a Acting) Demand(ctx context.Context, typeName, name string, right access.Right) (*doctype.Document, error) {
	return a.s.get(ctx, a.tx, a.caller, typeName, name, right, false)
}

// DemandField reads one document, or row, on which the caller has a right, and
// has it at the level of a field as well; the empty field is the document as a
// whole. A field that the DocType does not have takes every level its rules
// name: it may have been one of any level. Errors are those of Demand.
func (a Acting) DemandField(ctx context.Context, typeName, name, field string, right access.Right) (*doctype.Document, error) {
	doc, err := a.s.get(ctx, a.tx, a.caller, typeName, name, right, false)
	if err != nil {
		return nil, err
	}
	if err := a.s.may(a.tx, a.caller).DemandField(doc, field, right); err != nil {
		return nil, err
	}
	return doc, nil
}

// DemandNew demands that the caller may create documents of a DocType and write a
// field in them; the empty field is the document as a whole. Rows are made with
// their document, so nobody may create one alone. Errors are those of Demand.
func (a Acting) DemandNew(ctx context.Context, typeName, field string) error {
	dt, err := a.s.lookup(typeName)
	if err != nil {
		return err
	}
	return a.s.may(a.tx, a.caller).DemandNew(ctx, dt, field)
}

// AppendDocument reads one document and appends it to dst as a JSON object.
// Errors: Missing for an unknown DocType or document, Denied without read.
func (a Acting) AppendDocument(ctx context.Context, dst []byte, typeName, name string, opt ReadOptions) ([]byte, error) {
	return a.s.appendDocument(ctx, a.tx, a.caller, dst, typeName, name, opt)
}

// AppendList runs a list and appends the rows to dst as a JSON array.
func (a Acting) AppendList(ctx context.Context, dst []byte, typeName string, q *query.Query) ([]byte, error) {
	return a.s.appendList(ctx, a.tx, a.caller, dst, typeName, q)
}

// Fingerprint tells which lists show the same, whoever asks (access.List.Fingerprint).
// reads are the DocTypes beside the listed one on whose documents the list depends.
// Errors are those of AppendList.
func (a Acting) Fingerprint(ctx context.Context, typeName string, q *query.Query) (text string, reads []string, err error) {
	dt, err := a.s.listable(a.caller, typeName)
	if err != nil {
		return "", nil, err
	}
	l, err := a.s.may(a.tx, a.caller).Resolve(ctx, dt, q)
	if err != nil {
		return "", nil, err
	}
	text, reads = l.Fingerprint()
	return text, reads, nil
}

// Count counts the documents a list would have without paging.
func (a Acting) Count(ctx context.Context, typeName string, q *query.Query) (int64, error) {
	return a.s.count(ctx, a.tx, a.caller, typeName, q)
}

// Insert creates a document from values as JSON gave them (string, bool, nil,
// json.Number, float64, []any, map[string]any). Keys the DocType does not have
// are in UnknownFields afterwards, or refused, as the site wants it.
func (a Acting) Insert(ctx context.Context, typeName string, values map[string]any) (*doctype.Document, error) {
	if err := a.s.Writable(); err != nil {
		return nil, err
	}
	return a.s.create(ctx, a.tx, a.caller, typeName, values)
}

// Update changes the given fields of a document. A "modified" among the values
// that differs from the stored one is a TimestampMismatchError; without it the
// last writer wins.
func (a Acting) Update(ctx context.Context, typeName, name string, values map[string]any) (*doctype.Document, error) {
	if err := a.s.Writable(); err != nil {
		return nil, err
	}
	return a.s.update(ctx, a.tx, a.caller, typeName, name, values)
}

// Delete removes a document. A submitted one, and one that others link to, is
// refused.
func (a Acting) Delete(ctx context.Context, typeName, name string) error {
	if err := a.s.Writable(); err != nil {
		return err
	}
	return a.s.delete(ctx, a.tx, a.caller, typeName, name)
}

// Discard turns a draft into a cancelled document without its ever having been
// submitted. Errors: those of Update; DocstatusTransitionError for anything but
// a draft of a submittable DocType.
func (a Acting) Discard(ctx context.Context, typeName, name string) (*doctype.Document, error) {
	if err := a.s.Writable(); err != nil {
		return nil, err
	}
	return a.s.discard(ctx, a.tx, a.caller, typeName, name)
}

// Rename gives a document another name and moves everything that names it:
// links, dynamic links, its rows, versions, shares, attachments. With merge the
// new name is that of an existing document, which takes over what named the old
// one; the old one is deleted.
//
// It needs write on the document, and to merge also delete on it and write on
// the other. Errors: ValidationError where the DocType does not allow it,
// DuplicateEntryError for a taken name, NameError for one that cannot be.
func (a Acting) Rename(ctx context.Context, typeName, old, newName string, merge bool) (*doctype.Document, error) {
	if err := a.s.Writable(); err != nil {
		return nil, err
	}
	return a.s.rename(ctx, a.tx, a.caller, typeName, old, newName, merge)
}

// AddComment says something about a document that the caller may read. Kind is
// one of the types of DocType Comment; empty means Comment. The caller is who
// says it.
func (a Acting) AddComment(ctx context.Context, typeName, name, kind, text string) (*doctype.Document, error) {
	if err := a.s.Writable(); err != nil {
		return nil, err
	}
	return a.s.addComment(ctx, a.tx, a.caller, typeName, name, kind, text)
}

// Password returns the clear text of a Password field, for a System Manager who
// may read the document. A field that holds none, or something that was not
// stored as a password (a hash), is Missing.
func (a Acting) Password(ctx context.Context, typeName, name, field string) (string, error) {
	return a.s.password(ctx, a.tx, a.caller, typeName, name, field)
}

// Explain says which rule allows or refuses the caller one right on a DocType,
// or on one document of it. What it says of a document the caller could learn by
// trying.
func (a Acting) Explain(ctx context.Context, typeName, name string, right access.Right) (*access.Explanation, error) {
	dt, err := a.s.lookup(typeName)
	if err != nil {
		return nil, err
	}
	rights := a.s.may(a.tx, a.caller)
	return rights.Explain(ctx, dt, name, right, func() (*doctype.Document, error) {
		return a.tx.Get(ctx, rights.Schema, dt, name, false)
	})
}

// Rights says which rights the caller has on a document, by DocPerm field name,
// as 1 or 0. It needs read on the document.
func (a Acting) Rights(ctx context.Context, typeName, name string) (map[string]int, error) {
	doc, err := a.Get(ctx, typeName, name)
	if err != nil {
		return nil, err
	}
	return a.s.may(a.tx, a.caller).Of(ctx, doc)
}

// ReachOf says what the caller reads of a DocType, a child table included; nil:
// nothing. It is for DocTypes whose documents are about documents of others.
func (a Acting) ReachOf(ctx context.Context, typeName string) ([]access.Reach, error) {
	return a.s.may(a.tx, a.caller).ReachOf(ctx, typeName)
}
