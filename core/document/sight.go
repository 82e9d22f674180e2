package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/query"
)

// sight is what one caller sees of one DocType in lists: which fields, and of
// which documents.
type sight struct {
	levels permission.Levels
	only   []string      // the fields that select shows; nil: all
	where  doctype.Where // nil: every document
}

// shows reports whether the caller may see a field.
func (v *sight) shows(f *doctype.Field) bool {
	return v.levels.Has(f.PermLevel) && (v.only == nil || slices.Contains(v.only, f.Name))
}

// sightOf is what the caller may read of a DocType: what reading its documents
// one by one would show.
func (s *Service) sightOf(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType) (*sight, error) {
	return s.sightWith(ctx, tx, caller, dt, permission.Read)
}

func (s *Service) sightWith(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, right permission.Right) (*sight, error) {
	g, err := s.guard(ctx, tx, caller, dt, right)
	if err != nil {
		return nil, err
	}
	w, err := g.where(ctx, s, tx)
	if err != nil {
		return nil, err
	}
	return &sight{levels: permission.LevelsFor(dt.Permissions, caller, permission.Read) | 1, where: w}, nil
}

// sightToList is what the caller sees in a list of the DocType. Select alone
// shows which documents there are, and no more of them than the fields by which
// they are searched.
func (s *Service) sightToList(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType) (*sight, error) {
	if permission.For(dt.Permissions, caller, permission.Read) == permission.Full ||
		permission.For(dt.Permissions, caller, permission.Select) != permission.Full {
		return s.sightOf(ctx, tx, caller, dt)
	}
	v, err := s.sightWith(ctx, tx, caller, dt, permission.Select)
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
func (s *Service) sightOfRows(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, parent string) (*sight, error) {
	if parent == "" && caller.Elevated {
		if err := s.inScope(caller, dt, permission.Read); err != nil {
			return nil, err
		}
		return &sight{levels: permission.AllLevels}, nil
	}
	p := s.Schema().DocType(parent)
	if p == nil || !slices.ContainsFunc(p.Tables, func(f *doctype.Field) bool { return f.Options == dt.Name }) {
		return nil, denied(caller, dt, permission.Read, "")
	}
	of, err := s.sightOf(ctx, tx, caller, p)
	if fault.KindOf(err) == fault.Permission && s.inScope(caller, p, permission.Read) == nil {
		return nil, denied(caller, dt, permission.Read, "")
	}
	if err != nil {
		return nil, err
	}
	rows := doctype.AllOf{comparison(dt.Columns[doctype.ColParentType], query.Eq, parent)}
	if !caller.Unchecked() {
		var tables []any
		for _, t := range p.Tables {
			if t.Options == dt.Name && of.shows(t) {
				tables = append(tables, t.Name)
			}
		}
		rows = append(rows, comparison(dt.Columns[doctype.ColParentField], query.In, tables))
	}
	if of.where != nil {
		rows = append(rows, doctype.Some{Of: doctype.Operand{Field: dt.Columns[doctype.ColParent]}, Target: p, Key: p.Columns[doctype.ColName], Where: of.where})
	}
	return &sight{levels: of.levels, where: rows}, nil
}
