package file

import (
	"context"
	"errors"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/query"
)

// Covers reports whether Admits and Where speak of documents of a DocType: of
// File alone.
func (s *Service) Covers(doctype string) bool { return doctype == DocType }

// Admits reports whether the caller has a right on a File beyond what the roles
// say (reference section 6.3): a public one is readable by everybody who is
// logged in, and one that is attached goes with its document, where anything but
// reading needs the right to write.
func (s *Service) Admits(ctx context.Context, tx document.Tx, caller *identity.Caller, doc *doctype.Document, right permission.Right) (bool, error) {
	if caller.Unchecked() || !caller.IsGuest() && doc.Owner() == caller.User {
		return true, nil
	}
	reads := right == permission.Read || right == permission.Select
	if reads && !doc.Bool("is_private") {
		return true, nil
	}
	doctype, name := doc.Text("attached_to_doctype"), doc.Text("attached_to_name")
	// A File attached to a File could lead round in circles.
	if doctype == "" || name == "" || doctype == DocType {
		return false, nil
	}
	if !reads {
		right = permission.Write
	} else {
		right = permission.Read
	}
	return s.mayTarget(ctx, tx, caller, doctype, name, right)
}

// Where is the Files beyond their own that the caller sees in lists: users of
// the desk see public ones and those attached to documents of DocTypes they may
// read without limit. Nil: none.
func (s *Service) Where(caller *identity.Caller) (doctype.Where, error) {
	dt, err := s.doctype()
	if err != nil || !caller.Desk || caller.IsGuest() {
		return nil, err
	}
	seen := doctype.AnyOf{equal(dt, match{"is_private", int64(0)})}
	if len(caller.Restrictions) > 0 {
		return seen, nil // which documents they see is not said by the DocType alone
	}
	var readable []any
	for other := range s.documents().Schema().All {
		if !other.Child && other.Name != DocType && permission.For(other.Permissions, caller, permission.Read) == permission.Full {
			readable = append(readable, other.Name)
		}
	}
	if len(readable) > 0 {
		op := doctype.Operand{Field: dt.Field("attached_to_doctype")}
		seen = append(seen, doctype.Compare{Operand: op, Op: query.In, Value: readable})
	}
	return seen, nil
}

// mayRead reports whether the caller may read a File: as the door to documents
// lets them, or beyond that. A token that does not reach File documents is a
// fault, which says what scope it lacks.
func (s *Service) mayRead(ctx context.Context, tx document.Tx, caller *identity.Caller, doc *doctype.Document) (bool, error) {
	_, err := s.documents().Demand(ctx, tx, caller, DocType, doc.Name(), permission.Read)
	var scoped interface{ NeededScope() string }
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &scoped), fault.KindOf(err) != fault.Permission:
		return false, err
	}
	return s.Admits(ctx, tx, caller, doc, permission.Read)
}

// mayTarget reports whether the caller has a right on a document that a File is
// attached to; rows of a child table go with the document they are part of.
func (s *Service) mayTarget(ctx context.Context, tx document.Tx, caller *identity.Caller, doctype, name string, right permission.Right) (bool, error) {
	schema := s.documents().Schema()
	dt := schema.DocType(doctype)
	if dt == nil {
		return false, nil
	}
	if dt.Child {
		row, err := tx.Get(ctx, schema, dt, name, false)
		if fault.KindOf(err) == fault.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		doctype, name = row.Text("parenttype"), row.Text("parent")
		if dt = schema.DocType(doctype); dt == nil || dt.Child {
			return false, nil
		}
	}
	x, err := s.documents().Explain(ctx, tx, caller, doctype, name, right)
	if err != nil {
		return false, err
	}
	// Whoever passes every check passes it on what does not exist, too.
	return x.Allowed, nil
}

// admitTarget refuses to attach to a document that the caller may not write or,
// while it does not exist, may not create.
func (s *Service) admitTarget(ctx context.Context, tx document.Tx, caller *identity.Caller, set settings, doctype, name string) error {
	if doctype == "" {
		return nil
	}
	refused := fault.Denied("User %s may not attach files to %s %s", caller.User, doctype, name)
	dt := s.documents().Schema().DocType(doctype)
	switch {
	case caller.IsGuest():
		for _, allowed := range set.guestDocTypes {
			if allowed == doctype && dt != nil {
				return nil
			}
		}
		return refused
	case dt == nil:
		return fault.Missing("DocType %s not found", doctype)
	case doctype == DocType:
		return fault.Invalid("", "A File cannot be attached to a File")
	}
	right := permission.Write
	if missing, err := s.missing(ctx, tx, dt, name); err != nil {
		return err
	} else if missing {
		right, name = permission.Create, ""
	}
	ok, err := s.mayTarget(ctx, tx, caller, doctype, name, right)
	if err == nil && !ok {
		return refused
	}
	return err
}

func (s *Service) missing(ctx context.Context, tx document.Tx, dt *doctype.DocType, name string) (bool, error) {
	if name == "" || dt.Single {
		return name == "", nil
	}
	absent, err := tx.Absent(ctx, dt, []string{name})
	return len(absent) > 0, err
}
