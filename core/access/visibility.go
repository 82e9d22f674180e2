package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// Visibility is what one caller sees of one DocType in lists: which fields, and of
// which documents.
type Visibility struct {
	Levels Levels
	only   []string      // the fields that select shows; nil: all
	Where  doctype.Where // nil: every document
}

// Shows reports whether the caller may see a field.
func (v *Visibility) Shows(f *doctype.Field) bool {
	return v.Levels.Has(f.PermLevel) && (v.only == nil || slices.Contains(v.only, f.Name))
}

// Visibility is what the caller may read of a DocType: what reading its documents
// one by one would show.
func (r *Rights) Visibility(ctx context.Context, dt *doctype.DocType) (*Visibility, error) {
	return r.sightWith(ctx, dt, Read)
}

func (r *Rights) sightWith(ctx context.Context, dt *doctype.DocType, right Right) (*Visibility, error) {
	g, err := r.Guard(ctx, dt, right)
	if err != nil {
		return nil, err
	}
	w, err := g.Where(ctx)
	if err != nil {
		return nil, err
	}
	return &Visibility{Levels: r.levels(dt, Read), Where: w}, nil
}

// sightListed is what the caller sees in a list of any DocType; of a child table
// through one that has it.
func (r *Rights) sightListed(ctx context.Context, dt *doctype.DocType, parent string) (*Visibility, error) {
	switch {
	case dt.Single:
		return nil, fault.Invalid("", "%s is a single document; read it by its name", dt.Name)
	case dt.Child:
		return r.sightOfRows(ctx, dt, parent)
	}
	return r.sightToList(ctx, dt)
}

// sightToList is what the caller sees in a list of the DocType. Select alone
// shows which documents there are, and no more of them than the fields by which
// they are searched.
func (r *Rights) sightToList(ctx context.Context, dt *doctype.DocType) (*Visibility, error) {
	if ByRole(dt.Permissions, r.Caller, Read) == Full ||
		ByRole(dt.Permissions, r.Caller, Select) != Full {
		return r.Visibility(ctx, dt)
	}
	v, err := r.sightWith(ctx, dt, Select)
	if err == nil {
		v.only = searchable(dt)
	}
	return v, err
}

// searchable lists the fields that select shows.
func searchable(dt *doctype.DocType) []string {
	return append([]string{"name", dt.TitleField}, dt.Search...)
}

// sightOfRows is what the caller sees of a child table listed through a parent
// DocType that has it (reference, section 1.8: parent): the rows of documents
// that the caller may read, in tables and with fields of the caller's levels.
func (r *Rights) sightOfRows(ctx context.Context, dt *doctype.DocType, parent string) (*Visibility, error) {
	caller := r.Caller
	if parent == "" && caller.Elevated {
		if err := r.InScope(dt, Read); err != nil {
			return nil, err
		}
		return &Visibility{Levels: AllLevels}, nil
	}
	p := r.Schema.DocType(parent)
	if p == nil || !slices.ContainsFunc(p.Tables, func(f *doctype.Field) bool { return f.Options == dt.Name }) {
		return nil, Denied(caller, dt, Read, "")
	}
	of, err := r.Visibility(ctx, p)
	if fault.KindOf(err) == fault.Permission && r.InScope(p, Read) == nil {
		return nil, Denied(caller, dt, Read, "")
	}
	if err != nil {
		return nil, err
	}
	rows := doctype.AllOf{comparison(dt.Columns[doctype.ColParentType], query.Eq, parent)}
	if !caller.Unchecked() {
		var tables []any
		for _, t := range p.Tables {
			if t.Options == dt.Name && of.Shows(t) {
				tables = append(tables, t.Name)
			}
		}
		rows = append(rows, comparison(dt.Columns[doctype.ColParentField], query.In, tables))
	}
	if of.Where != nil {
		rows = append(rows, doctype.Some{Of: doctype.Operand{Field: dt.Columns[doctype.ColParent]}, Target: p, Key: p.Columns[doctype.ColName], Where: of.Where})
	}
	return &Visibility{Levels: of.Levels, Where: rows}, nil
}
