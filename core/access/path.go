package access

import (
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// operand locates a field that decides which rows come or in what order; one
// the caller may not read is refused, since its value could be guessed.
func (l *List) operand(ref query.Ref) (doctype.Operand, error) {
	op, hidden, err := l.locate(ref)
	if err != nil {
		return op, err
	}
	return op, hidden
}

// Asked is the field that a query may name so, or nil.
func Asked(dt *doctype.DocType, name string) *doctype.Field {
	if f := dt.Field(name); f != nil && f.Index >= 0 && !f.IsInternal() {
		return f
	}
	return nil
}

// locate is the one place where a path becomes a column: the field it names
// with every hop to it asked for what the caller may see. hidden is why the
// caller may not use it; nothing is joined then, so that a table that is not
// there for the caller multiplies no rows.
func (l *List) locate(ref query.Ref) (op doctype.Operand, hidden, err error) {
	via, target, err := l.hop(ref)
	if err != nil {
		return op, nil, err
	}
	if via == nil {
		f := Asked(l.dt, ref.Name)
		if f.IsPassword() {
			return op, nil, notPermitted(ref)
		}
		if !l.own.Shows(f) {
			return op, l.refuse(ref), nil
		}
		return doctype.Operand{Field: f}, nil, nil
	}
	f := Asked(target, ref.Name)
	if f == nil || f.IsPassword() {
		return op, nil, notPermitted(ref)
	}
	if !l.own.Shows(via) {
		return op, l.refuse(ref), nil
	}
	beyond, hidden, err := l.beyond(via, target)
	if err != nil || hidden != nil {
		return op, hidden, err
	}
	if !beyond.Shows(f) {
		return op, l.refuse(ref), nil
	}
	return doctype.Operand{Join: l.join(via, target, beyond.Where), Field: f}, nil, nil
}

func (l *List) refuse(ref query.Ref) error {
	return fault.Denied("User %s may not query by %s of %s", l.of.Caller.User, ref, l.dt.Name)
}

// hop finds the link or table that a ref goes through and where it leads; via
// is nil for a field of the listed DocType itself.
func (l *List) hop(ref query.Ref) (via *doctype.Field, target *doctype.DocType, err error) {
	switch {
	case ref.Table == "" || ref.Table == l.dt.Name:
		if Asked(l.dt, ref.Name) != nil {
			return nil, nil, nil
		}
		if ref.Table == "" {
			via = l.inOneTable(ref.Name)
		}
	default:
		if via = l.dt.Field(ref.Table); via == nil {
			via = l.tableOf(ref.Table)
		}
	}
	if via == nil || !via.IsLink() && via.Kind != doctype.Rows {
		return nil, nil, notPermitted(ref)
	}
	if target = l.of.Schema.DocType(via.Options); target == nil {
		return nil, nil, notPermitted(ref)
	}
	return via, target, nil
}

// beyond is what the caller sees of the rows a hop leads to. Rows of a table are
// part of their document and have its levels; what a link leads to is seen as
// it would be by itself.
func (l *List) beyond(via *doctype.Field, target *doctype.DocType) (of *Visibility, hidden, err error) {
	if via.Kind == doctype.Rows {
		return &Visibility{Levels: l.own.Levels}, nil, nil
	}
	of, err = l.sight(target)
	if fault.KindOf(err) == fault.Permission {
		return nil, err, nil
	}
	return of, nil, err
}

// sight is what the caller sees of a DocType that a link leads to, asked once
// for a list.
func (l *List) sight(target *doctype.DocType) (*Visibility, error) {
	if of := l.sights[target.Name]; of != nil {
		return of, nil
	}
	of, err := l.of.Visibility(l.ctx, target)
	if err != nil {
		return nil, err
	}
	if l.sights == nil {
		l.sights = make(map[string]*Visibility)
	}
	l.sights[target.Name] = of
	return of, nil
}

// tableOf finds the first table field whose rows are of the DocType.
func (l *List) tableOf(typeName string) *doctype.Field {
	for _, t := range l.dt.Tables {
		if t.Options == typeName {
			return t
		}
	}
	return nil
}

// inOneTable finds the only child table that has a field which the DocType
// lacks; nil when there are several, or none.
func (l *List) inOneTable(name string) *doctype.Field {
	var via *doctype.Field
	for _, t := range l.dt.Tables {
		if child := l.of.Schema.DocType(t.Options); child == nil || Asked(child, name) == nil {
			continue
		}
		if via != nil {
			return nil
		}
		via = t
	}
	return via
}

// join returns the number of the join through a field, adding it once. What the
// caller may not see of the target is not joined, and so is null.
func (l *List) join(via *doctype.Field, target *doctype.DocType, seen doctype.Where) int {
	for i, j := range l.Select.Joins {
		if j.Via == via {
			return i + 1
		}
	}
	n := len(l.Select.Joins) + 1
	l.Select.Joins = append(l.Select.Joins, doctype.Join{Via: via, Target: target, On: at(n, seen)})
	return n
}

// at is a condition on a DocType's rows where they are those of a join.
func at(join int, w doctype.Where) doctype.Where {
	switch w := w.(type) {
	case doctype.Compare:
		w.Join = join
		return w
	case doctype.Some:
		w.Of.Join = join
		return w
	case doctype.AllOf:
		all := make(doctype.AllOf, len(w))
		for i, part := range w {
			all[i] = at(join, part)
		}
		return all
	case doctype.AnyOf:
		some := make(doctype.AnyOf, len(w))
		for i, part := range w {
			some[i] = at(join, part)
		}
		return some
	}
	return nil
}
