// Package share lets users pass single documents on to others. A share is a
// document (DocType DocShare): whom it is with, one user or everyone who is
// logged in, and which of read, write, submit and share it gives. What it opens
// is decided where all rights are, in core/document; who may make one, change it
// or take it back is decided here, whichever way they come.
package share

import (
	"context"
	"slices"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// DocType is the name of the documents this package is about.
const DocType = "DocShare"

// With is whom a document is shared with.
type With struct {
	User     string
	Everyone bool // who is logged in; User is empty then
}

// Service shares the documents of one site. Its methods check the caller's
// rights and work in a transaction that somebody else ends.
type Service struct {
	documents func() *document.Service
}

// New makes the service; documents is asked when first needed, since it runs the
// Hooks of this service.
func New(documents func() *document.Service) *Service { return &Service{documents} }

// given are the rights a share can give, in the order they are shown.
var given = []access.Right{access.Read, access.Write, access.Submit, access.Share}

// Add shares a document, or replaces what an earlier share with the same user
// gives; none takes it back, and is answered with nil. Anything but nothing
// implies read.
//
// Errors: Denied without the right to share, for a right that the caller does not
// have on the document, and for an earlier share that gives such a one; Missing;
// ValidationError for rows, for Guest and for nobody; LinkValidationError for a
// user who does not exist.
func (s *Service) Add(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string, with With, rights access.Right) (*doctype.Document, error) {
	if rights == 0 {
		return nil, s.Remove(ctx, tx, caller, typeName, name, with)
	}
	rights |= access.Read
	there, err := s.existing(ctx, tx, caller, typeName, name, with, rights)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, right := range given {
		values[right.String()] = rights&right != 0
	}
	as := consequence(caller)
	if len(there) > 0 {
		// Two that were made at once are one from now on.
		for _, more := range there[1:] {
			if err := s.documents().As(as, tx).Delete(ctx, DocType, more.Name()); err != nil {
				return nil, err
			}
		}
		return s.documents().As(as, tx).Update(ctx, DocType, there[0].Name(), values)
	}
	values["share_doctype"], values["share_name"], values["everyone"] = typeName, name, with.Everyone
	if !with.Everyone {
		values["user"] = with.User
	}
	return s.documents().As(as, tx).Insert(ctx, DocType, values)
}

// Give gives or takes one right of a share; taking read takes everything.
// Errors: those of Add.
func (s *Service) Give(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string, with With, right access.Right, on bool) (*doctype.Document, error) {
	if !slices.Contains(given, right) {
		return nil, fault.Invalid("", "%s is no right that a share gives", right)
	}
	there, err := s.existing(ctx, tx, caller, typeName, name, with, access.Read)
	if err != nil {
		return nil, err
	}
	var rights access.Right
	for _, doc := range there {
		rights |= rightsOf(doc)
	}
	switch {
	case on:
		rights |= right
	case right == access.Read:
		rights = 0
	default:
		rights &^= right
	}
	return s.Add(ctx, tx, caller, typeName, name, with, rights)
}

// Remove takes a share back; one that is not there is no error. Whoever a
// document is shared with may end that; otherwise errors are those of Add.
func (s *Service) Remove(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string, with With) error {
	if with.Everyone || with.User != caller.User || caller.IsGuest() {
		if _, err := s.existing(ctx, tx, caller, typeName, name, with, access.Read); err != nil {
			return err
		}
	}
	there, err := s.find(ctx, tx, typeName, name, &with)
	if err != nil {
		return err
	}
	for _, doc := range there {
		if err := s.documents().As(consequence(caller), tx).Delete(ctx, DocType, doc.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Users lists the shares of a document that the caller may read.
func (s *Service) Users(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string) ([]*doctype.Document, error) {
	if _, err := s.documents().As(caller, tx).Demand(ctx, typeName, name, access.Read); err != nil {
		return nil, err
	}
	return s.find(ctx, tx, typeName, name, nil)
}

// existing finds what is shared already, and demands that the caller may give
// rights on the document and take those that are given.
func (s *Service) existing(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string, with With, rights access.Right) ([]*doctype.Document, error) {
	if err := s.demand(ctx, tx, caller, typeName, name, rights); err != nil {
		return nil, err
	}
	if err := with.check(); err != nil {
		return nil, err
	}
	there, err := s.find(ctx, tx, typeName, name, &with)
	if err != nil {
		return nil, err
	}
	for _, doc := range there {
		if err := s.demand(ctx, tx, caller, typeName, name, rightsOf(doc)); err != nil {
			return nil, err
		}
	}
	return there, nil
}

func (w With) check() error {
	switch {
	case w.Everyone && w.User != "", !w.Everyone && w.User == "":
		return fault.Invalid("", "A document is shared with one user or with everyone")
	case w.User == identity.Guest:
		return fault.Invalid("", "A document cannot be shared with Guest")
	}
	return nil
}

// demand demands the right to share a document and every one of rights on it.
func (s *Service) demand(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName, name string, rights access.Right) error {
	if dt := s.documents().Schema().DocType(typeName); dt != nil && dt.Child {
		return fault.Invalid("", "Rows of %s are shared with their document", typeName)
	}
	for _, right := range given {
		if (rights|access.Share)&right == 0 {
			continue
		}
		if _, err := s.documents().As(caller, tx).Demand(ctx, typeName, name, right); err != nil {
			return err
		}
	}
	return nil
}

// find reads the shares of a document, oldest first; with one user or everyone,
// or nil: all.
func (s *Service) find(ctx context.Context, tx document.Tx, typeName, name string, with *With) ([]*doctype.Document, error) {
	dt := s.documents().Schema().DocType(DocType)
	if dt == nil {
		return nil, fault.Missing("DocType %s not found", DocType)
	}
	is := func(field string, value any) doctype.Where {
		return doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: value}
	}
	where := doctype.AllOf{is("share_doctype", typeName), is("share_name", name)}
	switch {
	case with == nil:
	case with.Everyone:
		where = append(where, is("everyone", int64(1)))
	default:
		where = append(where, is("user", with.User), is("everyone", int64(0)))
	}
	sel := &doctype.Select{DocType: dt, Where: where}
	for _, position := range []int{doctype.ColCreation, doctype.ColName} {
		sel.Order = append(sel.Order, doctype.OrderBy{Operand: doctype.Operand{Field: dt.Columns[position]}})
	}
	for _, f := range dt.Columns {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
	}
	var found []*doctype.Document
	err := tx.Rows(ctx, sel, func(values []any) error {
		found = append(found, doctype.LoadDocument(dt, slices.Clone(values)))
		return nil
	})
	return found, err
}

func rightsOf(doc *doctype.Document) (rights access.Right) {
	for _, right := range given {
		if doc.Bool(right.String()) {
			rights |= right
		}
	}
	return rights
}

// consequence is the caller once the rights have been checked: they need none on
// DocShare itself, and neither does their token.
func consequence(caller *identity.Caller) *identity.Caller {
	as := *caller
	as.Elevated, as.Scopes = true, nil // the owner stays the user
	return &as
}
