package document

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// maxTree bounds how many nodes a tree operator or check may touch.
const maxTree = 100_000

// ParentField is the name of the link by which a node of a tree DocType points
// at its parent.
func ParentField(doctype string) string {
	return "parent_" + strings.ReplaceAll(strings.ToLower(doctype), " ", "_")
}

func parentOf(dt *doctype.DocType) *doctype.Field {
	if !dt.Tree {
		return nil
	}
	return dt.Field(ParentField(dt.Name))
}

// descendants returns the nodes below the given ones, level by level, without
// the nodes themselves. Trees are kept by parent links alone: nested-set columns
// would make every insertion rewrite half of the table.
//
// seen is the nodes that count, nil for all: the others, and what is only below
// them, are not there.
func (s *Service) descendants(ctx context.Context, tx Tx, dt *doctype.DocType, nodes []any, seen doctype.Where) ([]any, error) {
	parent := parentOf(dt)
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	met := make(map[any]bool, len(nodes))
	for _, n := range nodes {
		met[n] = true
	}
	var all []any
	for level := nodes; len(level) > 0; {
		below, err := s.column(ctx, tx, dt, dt.Columns[doctype.ColName], both(comparison(parent, query.In, level), seen))
		if err != nil {
			return nil, err
		}
		level = level[:0:0]
		for _, n := range below {
			if !met[n] {
				met[n] = true
				level = append(level, n)
			}
		}
		if all = append(all, level...); len(all) > maxTree {
			return nil, fault.Invalid("", "The tree of %s is too large for this question", dt.Name)
		}
	}
	return all, nil
}

// both is a condition and, unless it is nil, another.
func both(w, other doctype.Where) doctype.Where {
	if other == nil {
		return w
	}
	return doctype.AllOf{w, other}
}

// exists reports whether there is a document of that name which meets a
// condition.
func (s *Service) exists(ctx context.Context, tx Tx, dt *doctype.DocType, name any, where doctype.Where) (bool, error) {
	f := dt.Columns[doctype.ColName]
	found, err := s.column(ctx, tx, dt, f, both(comparison(f, query.Eq, name), where))
	return len(found) > 0, err
}

// ancestors returns the nodes above a node, nearest first, up to one that is
// not seen.
func (s *Service) ancestors(ctx context.Context, tx Tx, dt *doctype.DocType, node any, seen doctype.Where) ([]any, error) {
	parent := parentOf(dt)
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	var all []any
	for len(all) < maxTree {
		up, err := s.column(ctx, tx, dt, parent, both(comparison(dt.Columns[doctype.ColName], query.Eq, node), seen))
		if err != nil || len(up) == 0 || up[0] == nil || up[0] == "" || slices.Contains(all, up[0]) {
			return all, err
		}
		node = up[0]
		if seen != nil {
			if ok, err := s.exists(ctx, tx, dt, node, seen); err != nil || !ok {
				return all, err
			}
		}
		all = append(all, node)
	}
	return all, nil
}

// column reads one column of the rows that meet a condition.
func (s *Service) column(ctx context.Context, tx Tx, dt *doctype.DocType, f *doctype.Field, where doctype.Where) ([]any, error) {
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

// tree resolves a tree operator to a list of names: on the name of a tree
// DocType, or on a link into one.
func (r *resolver) tree(op doctype.Operand, c query.Cond) (doctype.Where, error) {
	dt := r.dt
	if op.Join > 0 {
		dt = r.sel.Joins[op.Join-1].Target
	}
	if op.Field.IsLink() {
		dt = r.schema.DocType(op.Field.Options)
	} else if op.Field.Name != "name" {
		dt = nil
	}
	node, ok := filterText(c.Value)
	if dt == nil || !dt.Tree || !ok {
		return nil, fault.Invalid("", "%s: %s works on the name of a tree, or a link to one", op.Field.Name, c.Op)
	}
	names, err := r.around(dt, node, c.Op)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case query.DescIncl:
		names = append(names, node)
	case query.NotDesc, query.NotAnc:
		return doctype.Compare{Operand: op, Op: query.NotIn, Value: names}, nil
	}
	return doctype.Compare{Operand: op, Op: query.In, Value: names}, nil
}

// around walks the tree from a node as far as the caller sees it: a node that
// the caller may not read is not there, and nothing is found behind it.
func (r *resolver) around(dt *doctype.DocType, node string, op query.Op) ([]any, error) {
	of := r.own
	if dt != r.dt {
		var err error
		if of, err = r.sight(dt); err != nil {
			return nil, err
		}
	}
	if f := parentOf(dt); f != nil && !of.levels.Has(f.PermLevel) {
		return nil, nil // who stands below whom is not theirs to know
	}
	if op == query.Ancestors || op == query.NotAnc {
		return r.s.ancestors(r.ctx, r.tx, dt, node, of.where)
	}
	if of.where != nil {
		if ok, err := r.s.exists(r.ctx, r.tx, dt, node, of.where); err != nil || !ok {
			return nil, err
		}
	}
	return r.s.descendants(r.ctx, r.tx, dt, []any{node}, of.where)
}

// checkTree refuses a parent that would make a node its own ancestor.
func (s *Service) checkTree(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	parent := parentOf(doc.Type)
	if parent == nil {
		return nil
	}
	up, _ := doc.Values()[parent.Index].(string)
	if up == "" || before != nil && before.Values()[parent.Index] == up {
		return nil
	}
	above, err := s.ancestors(ctx, tx, doc.Type, up, nil)
	if err != nil {
		return err
	}
	if up == doc.Name() || slices.Contains(above, any(doc.Name())) {
		return fault.Invalid("", "%s cannot be below itself in the tree of %s", doc.Name(), doc.Type.Name)
	}
	return nil
}
