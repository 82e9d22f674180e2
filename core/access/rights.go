package access

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// Rights are what one caller may do, as one transaction sees documents. They are
// made where they are asked, and not kept.
type Rights struct {
	Caller *identity.Caller
	Schema *doctype.Schema
	Now    time.Time // the site's wall clock, in the site's zone
	Tx     Reader
	Extra  ExtraAccess // nil: it has no say in anything

	Protection map[string]Protection // of the platform's DocTypes, by name
}

// Reader reads rows that meet a condition, and asks nothing.
type Reader interface {
	Rows(ctx context.Context, sel *doctype.Select, fn func(values []any) error) error
}

// Verdict is what ExtraAccess says of one right on one document.
type Verdict uint8

// The verdicts.
const (
	Unsaid Verdict = iota // roles, User Permissions, owners and shares decide
	Allow
	Refuse
)

// ExtraAccess decides about documents whose rights follow from more than the caller,
// the DocType and the owner, before anything else but scopes is asked, for the
// caller and the transaction of Rights. Whoever has no right on the DocType at all
// is not let in by it.
type ExtraAccess interface {
	Covers(typeName string) bool
	// Decide says whether the caller has a right on one document.
	Decide(ctx context.Context, doc *doctype.Document, right Right) (Verdict, error)
	// Seen says what the caller sees in lists: of what roles and shares show only what
	// meets within, and beside it what meets more. Nil within: all; nil more: nothing.
	Seen(ctx context.Context) (within, more doctype.Where, err error)
}

// Demand refuses, as a fault, a right that the caller does not have on a document.
func (r *Rights) Demand(ctx context.Context, doc *doctype.Document, right Right) error {
	g, err := r.Guard(ctx, doc.Type, right)
	if err != nil {
		return err
	}
	return g.Admit(ctx, doc)
}

// Of says which rights the caller has on a document, by DocPerm field name, as 1 or
// 0.
func (r *Rights) Of(ctx context.Context, doc *doctype.Document) (map[string]int, error) {
	rights := make(map[string]int)
	for _, name := range doctype.RightNames() {
		right, _ := doctype.ParseRight(name)
		err := r.Demand(ctx, doc, right)
		if err != nil && fault.KindOf(err) != fault.Permission {
			return nil, err
		}
		if rights[name] = 0; err == nil {
			rights[name] = 1
		}
	}
	return rights, nil
}

// Denied is the fault of a right that the caller does not have on documents of a
// DocType or, unless the name is empty, on one of them.
func Denied(caller *identity.Caller, dt *doctype.DocType, right Right, name string) error {
	what := dt.Name
	if name != "" {
		what += " " + name
	}
	e := fault.Denied("User %s does not have %s access to %s", caller.User, right, what)
	e.Quiet = true
	return e
}

// comparison is that a field of the documents in question compares so.
func comparison(f *doctype.Field, op query.Op, v any) doctype.Compare {
	return doctype.Compare{Operand: doctype.Operand{Field: f}, Op: op, Value: v}
}

// column reads one column of the rows that meet a condition.
func column(ctx context.Context, tx Reader, dt *doctype.DocType, f *doctype.Field, where doctype.Where) ([]any, error) {
	var values []any
	err := tx.Rows(ctx, &doctype.Select{
		DocType: dt, Where: where,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: f}, Key: f.Name}},
	}, func(v []any) error {
		values = append(values, v[0])
		return nil
	})
	return values, err
}
