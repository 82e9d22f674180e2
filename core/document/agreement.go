package document

import (
	"context"

	"armature/core/doctype"
	"armature/core/fault"
)

// Agreement is what somebody who looked at a Rehearsal has agreed to. A run under its
// context changes those documents alone, as they were then.
type Agreement struct {
	schema   *doctype.Schema
	modified map[[2]string]string // of the documents that may be changed, by DocType and name
	fresh    map[string]bool      // DocTypes of which documents may be made
	many     map[[2]string]bool   // DocTypes and fields of which many may be set
}

// NewAgreement is an agreement to nothing yet.
func NewAgreement(schema *doctype.Schema) *Agreement {
	return &Agreement{schema, map[[2]string]string{}, map[string]bool{}, map[[2]string]bool{}}
}

// Change adds a document as it was when it was looked at.
func (a *Agreement) Change(typeName, name, modified string) {
	a.modified[[2]string{typeName, name}] = modified
}

// Make adds documents of a DocType that are made.
func (a *Agreement) Make(typeName string) { a.fresh[typeName] = true }

// Set adds a field of many documents.
func (a *Agreement) Set(typeName, field string) { a.many[[2]string{typeName, field}] = true }

type agreementKey struct{}

// WithAgreement is a context under which only what was agreed to is changed; another
// change fails with TimestampMismatchError, and nothing is kept.
func WithAgreement(ctx context.Context, a *Agreement) context.Context {
	return context.WithValue(ctx, agreementKey{}, a)
}

// AgreementOf is the agreement of a context; nil: there is none to keep to.
func AgreementOf(ctx context.Context) *Agreement {
	a, _ := ctx.Value(agreementKey{}).(*Agreement)
	return a
}

// Run runs the function of a transaction. It is for the Store, which may run it again.
func (a *Agreement) Run(tx Tx, fn func(Tx) error) error {
	t := &agreed{Tx: tx, a: a, known: map[[2]string]bool{}}
	if err := fn(t); err != nil {
		return err
	}
	return t.failed // a guest may have caught it
}

// agreed keeps a transaction to what was agreed to.
type agreed struct {
	Tx
	a      *Agreement
	known  map[[2]string]bool // made here, or found as they were
	failed error              // the first refusal: nothing is kept after it
}

func (t *agreed) refuse(format string, args ...any) error {
	t.failed = fault.Invalid("TimestampMismatchError", format, args...)
	return t.failed
}

func (t *agreed) may(ctx context.Context, dt *doctype.DocType, name string) error {
	key := [2]string{dt.Name, name}
	if t.failed != nil || t.known[key] || bookkeeping(dt.Name) {
		return t.failed
	}
	shown, ok := t.a.modified[key]
	doc, err := t.Get(ctx, t.a.schema, dt, name, true)
	if fault.KindOf(err) == fault.NotFound {
		return nil // there is nothing to change
	}
	if err != nil {
		return err
	}
	switch {
	case !ok:
		return t.refuse("%s %s would be changed, which was not among what was confirmed", dt.Name, name)
	case doc.Modified() != shown:
		return t.refuse("%s %s has been modified after it was shown for confirmation", dt.Name, name)
	}
	t.known[key] = true
	return nil
}

// Insert implements Tx.
func (t *agreed) Insert(ctx context.Context, doc *doctype.Document, needs ...Need) error {
	if t.failed != nil {
		return t.failed
	}
	if !t.a.fresh[doc.Type.Name] && !bookkeeping(doc.Type.Name) {
		return t.refuse("%s %s would be made, which was not among what was confirmed", doc.Type.Name, doc.Name())
	}
	err := t.Tx.Insert(ctx, doc, needs...)
	if err == nil {
		t.known[[2]string{doc.Type.Name, doc.Name()}] = true
	}
	return err
}

// Update implements Tx.
func (t *agreed) Update(ctx context.Context, sc *doctype.Schema, doc *doctype.Document, columns, tables []*doctype.Field, expect string, needs ...Need) (bool, error) {
	if err := t.may(ctx, doc.Type, doc.Name()); err != nil {
		return false, err
	}
	return t.Tx.Update(ctx, sc, doc, columns, tables, expect, needs...)
}

// UpdateIf implements Tx.
func (t *agreed) UpdateIf(ctx context.Context, dt *doctype.DocType, name string, expect, set map[string]any) (bool, error) {
	if err := t.may(ctx, dt, name); err != nil {
		return false, err
	}
	return t.Tx.UpdateIf(ctx, dt, name, expect, set)
}

// Delete implements Tx.
func (t *agreed) Delete(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string) (bool, error) {
	if err := t.may(ctx, dt, name); err != nil {
		return false, err
	}
	return t.Tx.Delete(ctx, sc, dt, name)
}

// Replace implements Tx.
func (t *agreed) Replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, where doctype.Where, value any) (int64, error) {
	if t.failed != nil {
		return 0, t.failed
	}
	if t.a.many[[2]string{dt.Name, f.Name}] || bookkeeping(dt.Name) {
		return t.Tx.Replace(ctx, dt, f, where, value)
	}
	n, err := t.Tx.Replace(ctx, dt, f, where, value)
	if err == nil && n > 0 {
		return 0, t.refuse("%s of %s would be set, which was not among what was confirmed", f.Name, dt.Name)
	}
	return n, err
}
