package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// maxTree bounds how many nodes a tree operator or check may touch.
const maxTree = 100_000

// descendants returns the nodes below the given ones, level by level, without
// the nodes themselves. Trees are kept by parent links alone: nested-set columns
// would make every insertion rewrite half of the table.
//
// seen is the nodes that count, nil for all: the others, and what is only below
// them, are not there.
func descendants(ctx context.Context, tx Reader, dt *doctype.DocType, nodes []any, seen doctype.Where) ([]any, error) {
	parent := dt.ParentLink()
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	met := make(map[any]bool, len(nodes))
	for _, n := range nodes {
		met[n] = true
	}
	var all []any
	for level := nodes; len(level) > 0; {
		below, err := column(ctx, tx, dt, dt.Columns[doctype.ColName], both(comparison(parent, query.In, level), seen))
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
func exists(ctx context.Context, tx Reader, dt *doctype.DocType, name any, where doctype.Where) (bool, error) {
	f := dt.Columns[doctype.ColName]
	found, err := column(ctx, tx, dt, f, both(comparison(f, query.Eq, name), where))
	return len(found) > 0, err
}

// Ancestors returns the nodes above a node, nearest first, up to one that does not
// meet seen; nil: all of them.
func Ancestors(ctx context.Context, tx Reader, dt *doctype.DocType, node any, seen doctype.Where) ([]any, error) {
	parent := dt.ParentLink()
	if parent == nil {
		return nil, fault.Invalid("", "%s is no tree", dt.Name)
	}
	var all []any
	for len(all) < maxTree {
		up, err := column(ctx, tx, dt, parent, both(comparison(dt.Columns[doctype.ColName], query.Eq, node), seen))
		if err != nil || len(up) == 0 || up[0] == nil || up[0] == "" || slices.Contains(all, up[0]) {
			return all, err
		}
		node = up[0]
		if seen != nil {
			if ok, err := exists(ctx, tx, dt, node, seen); err != nil || !ok {
				return all, err
			}
		}
		all = append(all, node)
	}
	return all, nil
}

// tree resolves a tree operator to a list of names: on the name of a tree
// DocType, or on a link into one.
func (l *List) tree(op doctype.Operand, c query.Cond) (doctype.Where, error) {
	dt := l.dt
	if op.Join > 0 {
		dt = l.Select.Joins[op.Join-1].Target
	}
	switch f := op.Field; {
	case f == dt.Columns[doctype.ColName]:
	case f.IsLink() && f.Takes(c.Op):
		dt = l.of.Schema.DocType(f.Options)
	default:
		dt = nil
	}
	node, ok := filterText(c.Value)
	if dt == nil || !dt.Tree || !ok {
		return nil, fault.Invalid("", "%s: %s works on the name of a tree, or a link to one", op.Field.Name, c.Op)
	}
	names, err := l.around(dt, node, c.Op)
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
func (l *List) around(dt *doctype.DocType, node string, op query.Op) ([]any, error) {
	of := l.own
	if dt != l.dt {
		var err error
		if of, err = l.sight(dt); err != nil {
			return nil, err
		}
	}
	if f := dt.ParentLink(); f != nil && !of.Shows(f) {
		return nil, nil // who stands below whom is not theirs to know
	}
	if op == query.Ancestors || op == query.NotAnc {
		return Ancestors(l.ctx, l.of.Tx, dt, node, of.Where)
	}
	if of.Where != nil {
		if ok, err := exists(l.ctx, l.of.Tx, dt, node, of.Where); err != nil || !ok {
			return nil, err
		}
	}
	return descendants(l.ctx, l.of.Tx, dt, []any{node}, of.Where)
}
