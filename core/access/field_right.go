package access

import (
	"context"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// DemandField refuses a document, or row, at whose field the caller does not have a
// right; whether the caller has it on the document was asked before. The empty
// field is the document as a whole. A field that the DocType does not have takes
// every level its rules name: it may have been one of any level.
func (r *Rights) DemandField(doc *doctype.Document, field string, right Right) error {
	rules := doc.Type
	if doc.Type.Child {
		if rules = r.Schema.DocType(doc.Text("parenttype")); rules == nil {
			return fault.Missing("DocType %s not found", doc.Text("parenttype"))
		}
	}
	if right != Read {
		right = Write
	}
	if !r.fieldLevels(rules, doc.Type, right)(field) {
		return Denied(r.Caller, doc.Type, right, doc.Name())
	}
	return nil
}

// DemandNew refuses a DocType of which the caller may not create documents, or
// not write a field in them. Rows are made with their document, so nobody may
// create one alone.
func (r *Rights) DemandNew(ctx context.Context, dt *doctype.DocType, field string) error {
	if _, err := r.Guard(ctx, dt, Create); err != nil {
		return err
	}
	if dt.Child || !r.fieldLevels(dt, dt, Write)(field) {
		return Denied(r.Caller, dt, Create, "")
	}
	return nil
}

// fieldLevels returns what says whether the caller has a right at the level of a
// field of dt, by the rules of its own DocType or its parent's.
func (r *Rights) fieldLevels(rules, dt *doctype.DocType, right Right) func(field string) bool {
	levels := r.levels(rules, right)
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

// Reach is what a caller reads of the documents of one DocType, or of the rows in
// one table.
type Reach struct {
	Target *doctype.DocType
	Where  doctype.Where // of documents of Target; nil: every one
	Fields []any         // names of the fields, when Some are hidden
	Some   bool          // some fields are hidden
}

// Named is that a column names such a document; nil: any name will do.
func (r *Reach) Named(by doctype.Operand) doctype.Where {
	if r.Where == nil {
		return nil
	}
	return doctype.Some{Of: by, Target: r.Target, Key: r.Target.Columns[doctype.ColName], Where: r.Where}
}

// ReachOf says what the caller reads of a DocType, a child table included; nil:
// nothing.
func (r *Rights) ReachOf(ctx context.Context, typeName string) ([]Reach, error) {
	dt := r.Schema.DocType(typeName)
	if dt == nil {
		return nil, nil
	}
	if !dt.Child {
		of, err := r.reach(ctx, dt)
		if of == nil || err != nil {
			return nil, err
		}
		of.hide(dt, r.fieldLevels(dt, dt, Read))
		return []Reach{*of}, nil
	}
	var all []Reach
	for parent := range r.Schema.All {
		for _, table := range parent.Tables {
			if table.Options != typeName || parent.Child || !r.fieldLevels(parent, parent, Read)(table.Name) {
				continue
			}
			of, err := r.reach(ctx, parent)
			if err != nil {
				return nil, err
			}
			if of == nil {
				continue
			}
			rows := Reach{Target: dt, Where: of.rows(dt, table)}
			rows.hide(dt, r.fieldLevels(parent, dt, Read))
			all = append(all, rows)
		}
	}
	return all, nil
}

// reach is which documents of a DocType the caller reads; nil: none.
func (r *Rights) reach(ctx context.Context, dt *doctype.DocType) (*Reach, error) {
	g, err := r.Guard(ctx, dt, Read)
	if fault.KindOf(err) == fault.Permission {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	where, err := g.Where(ctx)
	return &Reach{Target: dt, Where: where}, err
}

// rows is which rows of dt are in one table of the documents.
func (r *Reach) rows(dt *doctype.DocType, table *doctype.Field) doctype.Where {
	where := doctype.AllOf{
		comparison(dt.Columns[doctype.ColParentType], query.Eq, r.Target.Name),
		comparison(dt.Columns[doctype.ColParentField], query.Eq, table.Name),
	}
	if named := r.Named(doctype.Operand{Field: dt.Columns[doctype.ColParent]}); named != nil {
		where = append(where, named)
	}
	return where
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
