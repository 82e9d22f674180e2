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
func (s *Service) descendants(ctx context.Context, tx Tx, dt *doctype.DocType, nodes []any) ([]any, error) {
	parent := parentOf(dt)
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	seen := make(map[any]bool, len(nodes))
	for _, n := range nodes {
		seen[n] = true
	}
	var all []any
	for level := nodes; len(level) > 0; {
		below, err := s.column(ctx, tx, dt, dt.Columns[doctype.ColName], doctype.Compare{Operand: doctype.Operand{Field: parent}, Op: query.In, Value: level})
		if err != nil {
			return nil, err
		}
		level = level[:0:0]
		for _, n := range below {
			if !seen[n] {
				seen[n] = true
				level = append(level, n)
			}
		}
		if all = append(all, level...); len(all) > maxTree {
			return nil, fault.Invalid("", "The tree of %s is too large for this question", dt.Name)
		}
	}
	return all, nil
}

// ancestors returns the nodes above a node, nearest first.
func (s *Service) ancestors(ctx context.Context, tx Tx, dt *doctype.DocType, node any) ([]any, error) {
	parent := parentOf(dt)
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	var all []any
	for len(all) < maxTree {
		up, err := s.column(ctx, tx, dt, parent, doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Eq, Value: node})
		if err != nil || len(up) == 0 || up[0] == nil || up[0] == "" || slices.Contains(all, up[0]) {
			return all, err
		}
		node = up[0]
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
	var names []any
	var err error
	switch c.Op {
	case query.Ancestors, query.NotAnc:
		names, err = r.s.ancestors(r.ctx, r.tx, dt, node)
	default:
		names, err = r.s.descendants(r.ctx, r.tx, dt, []any{node})
	}
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
	above, err := s.ancestors(ctx, tx, doc.Type, up)
	if err != nil {
		return err
	}
	if up == doc.Name() || slices.Contains(above, any(doc.Name())) {
		return fault.Invalid("", "%s cannot be below itself in the tree of %s", doc.Name(), doc.Type.Name)
	}
	return nil
}
