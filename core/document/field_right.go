package document

import (
	"context"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/query"
)

func (s *Service) demandField(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name, field string, right permission.Right) (*doctype.Document, error) {
	doc, err := s.get(ctx, tx, caller, doctype, name, right, false)
	if err != nil {
		return nil, err
	}
	rules := doc.Type
	if doc.Type.Child {
		if rules, err = s.lookup(doc.Text("parenttype")); err != nil {
			return nil, err
		}
	}
	if right != permission.Read {
		right = permission.Write
	}
	if !fieldLevels(rules, doc.Type, caller, right)(field) {
		return nil, denied(caller, doc.Type, right, name)
	}
	return doc, nil
}

func (s *Service) demandNew(ctx context.Context, tx Tx, caller *identity.Caller, doctype, field string) error {
	dt, err := s.lookup(doctype)
	if err != nil {
		return err
	}
	if _, err := s.guard(ctx, tx, caller, dt, permission.Create); err != nil {
		return err
	}
	if dt.Child || !fieldLevels(dt, dt, caller, permission.Write)(field) {
		return denied(caller, dt, permission.Create, "")
	}
	return nil
}

// fieldLevels returns what says whether the caller has a right at the level of a
// field of dt, by the rules of its own DocType or its parent's.
func fieldLevels(rules, dt *doctype.DocType, caller *identity.Caller, right permission.Right) func(field string) bool {
	levels := permission.LevelsFor(rules.Permissions, caller, right) | 1
	return func(field string) bool {
		f := dt.Field(field)
		switch {
		case field == "":
			return true
		case f != nil:
			return levels.Has(f.PermLevel)
		}
		for _, rule := range rules.Permissions {
			if !levels.Has(rule.Level) {
				return false
			}
		}
		return true
	}
}

// Reach is the documents of one DocType that a caller reads, and their fields.
type Reach struct {
	All    bool  // every document
	Names  []any // of the documents, unless All
	Fields []any // names of the fields, when Some are hidden
	Some   bool  // some fields are hidden
}

func (s *Service) reachOf(ctx context.Context, tx Tx, caller *identity.Caller, doctype string) ([]Reach, error) {
	dt := s.Schema().DocType(doctype)
	if dt == nil {
		return nil, nil
	}
	if !dt.Child {
		r, err := s.reach(ctx, tx, caller, dt)
		if r == nil || err != nil {
			return nil, err
		}
		r.hide(dt, fieldLevels(dt, dt, caller, permission.Read))
		return []Reach{*r}, nil
	}
	var all []Reach
	for parent := range s.Schema().All {
		for _, table := range parent.Tables {
			if table.Options != doctype || parent.Child || !fieldLevels(parent, parent, caller, permission.Read)(table.Name) {
				continue
			}
			r, err := s.reach(ctx, tx, caller, parent)
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			if r.Names, err = s.rowsOf(ctx, tx, dt, parent, table, r); err != nil {
				return nil, err
			}
			r.All = false
			r.hide(dt, fieldLevels(parent, dt, caller, permission.Read))
			all = append(all, *r)
		}
	}
	return all, nil
}

// reach lists the documents of a DocType that the caller reads; nil: none.
func (s *Service) reach(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType) (*Reach, error) {
	g, err := s.guard(ctx, tx, caller, dt, permission.Read)
	if fault.KindOf(err) == fault.Permission {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	where, err := g.where(ctx, s, tx)
	if err != nil || where == nil {
		return &Reach{All: true}, err
	}
	names, err := s.column(ctx, tx, dt, dt.Columns[doctype.ColName], where)
	return &Reach{Names: names}, err
}

// rowsOf lists the rows in one table of the documents of a Reach.
func (s *Service) rowsOf(ctx context.Context, tx Tx, dt, parent *doctype.DocType, table *doctype.Field, r *Reach) ([]any, error) {
	where := doctype.AllOf{
		doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParentType]}, Op: query.Eq, Value: parent.Name},
		doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParentField]}, Op: query.Eq, Value: table.Name},
	}
	if !r.All {
		where = append(where, doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParent]}, Op: query.In, Value: r.Names})
	}
	return s.column(ctx, tx, dt, dt.Columns[doctype.ColName], where)
}

func (r *Reach) hide(dt *doctype.DocType, shows func(string) bool) {
	// A name no field has stands for all fields that are gone.
	r.Some = !shows("\x00")
	for _, f := range dt.Fields {
		if shows(f.Name) {
			r.Fields = append(r.Fields, f.Name)
		} else {
			r.Some = true
		}
	}
}
