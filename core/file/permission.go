package file

import (
	"context"
	"errors"
	"slices"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// Covers reports whether Decide and Seen speak of documents of a DocType: of
// File alone.
func (s *Service) Covers(typeName string) bool { return typeName == DocType }

// Decide says whether the caller has a right on a File. One that is attached goes
// with its field, public or private and whoever has uploaded it: it is read by who
// may read the field, and anything else needs the right to write it. While the
// document does not exist yet the File is its owner's, as one that is not
// attached is; of those everybody who is logged in reads the public ones, and
// roles and shares may open others.
func (s *Service) Decide(ctx context.Context, tx document.Tx, caller *identity.Caller, doc *doctype.Document, right access.Right) (access.Verdict, error) {
	mine := !caller.IsGuest() && doc.Owner() == caller.User
	in := infoOf(doc)
	switch {
	case caller.Unchecked():
		return access.Allow, nil
	case in.attached():
		verdict, err := s.decideField(ctx, tx, caller, in, right)
		if err == nil && verdict == access.Unsaid {
			verdict = access.Refuse
			if mine {
				verdict = access.Allow
			}
		}
		return verdict, err
	case mine, right&reading != 0 && !doc.Bool("is_private"):
		return access.Allow, nil
	}
	return access.Unsaid, nil
}

// reading are the rights that go with being able to read.
const reading = access.Select | access.Read | access.Report | access.Export | access.Print | access.Email

// attached reports whether a File goes with a document. One that would be
// attached to a File could lead round in circles.
func (in Info) attached() bool { return in.DocType != "" && in.DocName != "" && in.DocType != DocType }

// decideField asks for a right on the field a File is attached to; Unsaid where
// the document does not exist.
func (s *Service) decideField(ctx context.Context, tx document.Tx, caller *identity.Caller, in Info, right access.Right) (access.Verdict, error) {
	if dt := s.documents().Schema().DocType(in.DocType); dt == nil {
		return access.Unsaid, nil
	} else if absent, err := s.missing(ctx, tx, dt, in.DocName); err != nil || absent {
		return access.Unsaid, err
	}
	demanded := access.Write
	if right&reading != 0 {
		demanded = access.Read
	}
	_, err := s.documents().As(caller, tx).DemandField(ctx, in.DocType, in.DocName, in.Field, demanded)
	switch {
	case err == nil:
		return access.Allow, nil
	case scoped(err), fault.KindOf(err) != fault.Permission:
		return access.Refuse, err
	}
	return access.Refuse, nil
}

// scoped reports whether a refusal says which scope the token lacks.
func scoped(err error) bool {
	var s interface{ NeededScope() string }
	return errors.As(err, &s)
}

// Seen is what the caller sees of Files in lists: of those that are not attached
// what roles and shares show, and, on the desk, public ones; of the others those
// of documents and fields that the caller reads.
func (s *Service) Seen(ctx context.Context, tx document.Tx, caller *identity.Caller) (within, more doctype.Where, err error) {
	dt, err := s.doctype()
	if err != nil || caller.IsGuest() {
		return doctype.AnyOf{}, nil, err
	}
	free := doctype.AnyOf{equal(dt, match{"attached_to_doctype", nil}), equal(dt, match{"attached_to_name", nil})}
	var seen doctype.AnyOf
	if caller.Desk {
		seen = append(seen, doctype.AllOf{free, equal(dt, match{"is_private", int64(0)})})
	}
	types, err := s.attachedTo(ctx, tx, dt)
	if err != nil {
		return nil, nil, err
	}
	for _, typeName := range types {
		reach, err := s.documents().As(caller, tx).ReachOf(ctx, typeName)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range reach {
			seen = append(seen, attachedIn(dt, typeName, r))
		}
	}
	return free, seen, nil
}

// attachedTo lists the DocTypes that Files are attached to.
func (s *Service) attachedTo(ctx context.Context, tx document.Tx, dt *doctype.DocType) (types []string, err error) {
	column := doctype.Operand{Field: dt.Field("attached_to_doctype")}
	err = tx.Rows(ctx, &doctype.Select{
		DocType: dt, Columns: []doctype.Column{{Operand: column, Key: "attached_to_doctype"}},
		Where: doctype.Compare{Operand: column, Op: query.Is, Value: true}, Group: []doctype.Operand{column},
	}, func(values []any) error {
		if name, _ := values[0].(string); name != "" && name != DocType {
			types = append(types, name)
		}
		return nil
	})
	return types, err
}

// attachedIn is the Files of what a caller reads of a DocType.
func attachedIn(dt *doctype.DocType, typeName string, r access.Reach) doctype.Where {
	name := doctype.Operand{Field: dt.Field("attached_to_name")}
	where := doctype.AllOf{
		equal(dt, match{"attached_to_doctype", typeName}),
		doctype.Compare{Operand: name, Op: query.Is, Value: true},
	}
	if named := r.Named(name); named != nil {
		where = append(where, named)
	}
	if r.Some {
		where = append(where, doctype.AnyOf{
			equal(dt, match{"attached_to_field", nil}),
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("attached_to_field")}, Op: query.In, Value: r.Fields},
		})
	}
	return where
}

// mayRead reports whether the caller may read a File: as the door to documents
// lets them, or where roles give nothing on File at all, beyond that. A token that
// does not reach File documents is a fault, which says what scope it lacks.
func (s *Service) mayRead(ctx context.Context, tx document.Tx, caller *identity.Caller, doc *doctype.Document) (bool, error) {
	_, err := s.documents().As(caller, tx).Demand(ctx, DocType, doc.Name(), access.Read)
	switch {
	case err == nil:
		return true, nil
	case scoped(err), fault.KindOf(err) != fault.Permission:
		return false, err
	}
	verdict, err := s.Decide(ctx, tx, caller, doc, access.Read)
	return verdict == access.Allow, err
}

// admitTarget refuses to attach to a document, or a field of it, that the caller
// may not write or, while it does not exist, may not create.
func (s *Service) admitTarget(ctx context.Context, tx document.Tx, caller *identity.Caller, set settings, in Info) error {
	if in.DocType == "" {
		return nil
	}
	refused := fault.Denied("User %s may not attach files to %s %s", caller.User, in.DocType, in.DocName)
	dt := s.documents().Schema().DocType(in.DocType)
	switch {
	case caller.IsGuest():
		if dt != nil && slices.Contains(set.guestDocTypes, in.DocType) {
			return nil
		}
		return refused
	case dt == nil:
		return fault.Missing("DocType %s not found", in.DocType)
	case in.DocType == DocType:
		return fault.Invalid("", "A File cannot be attached to a File")
	}
	absent, err := s.missing(ctx, tx, dt, in.DocName)
	if err != nil {
		return err
	}
	if !absent {
		_, err = s.documents().As(caller, tx).DemandField(ctx, in.DocType, in.DocName, in.Field, access.Write)
	} else {
		err = s.documents().As(caller, tx).DemandNew(ctx, in.DocType, in.Field)
	}
	if fault.KindOf(err) == fault.Permission && !scoped(err) {
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
