package document

import (
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// operand locates a field that decides which rows come or in what order; one
// the caller may not read is refused, since its value could be guessed.
func (r *resolver) operand(ref query.Ref) (doctype.Operand, error) {
	op, hidden, err := r.locate(ref)
	if err != nil {
		return op, err
	}
	return op, hidden
}

// asked is the field that a query may name so, or nil.
func asked(dt *doctype.DocType, name string) *doctype.Field {
	if f := dt.Field(name); f != nil && f.Index >= 0 && !f.IsInternal() {
		return f
	}
	return nil
}

// locate is the one place where a path becomes a column: the field it names
// with every hop to it asked for what the caller may see. hidden is why the
// caller may not use it; nothing is joined then, so that a table that is not
// there for the caller multiplies no rows.
func (r *resolver) locate(ref query.Ref) (op doctype.Operand, hidden, err error) {
	via, target, err := r.hop(ref)
	if err != nil {
		return op, nil, err
	}
	if via == nil {
		f := asked(r.dt, ref.Name)
		if f.IsPassword() {
			return op, nil, notPermitted(ref)
		}
		if !r.own.shows(f) {
			return op, r.refuse(ref), nil
		}
		return doctype.Operand{Field: f}, nil, nil
	}
	f := asked(target, ref.Name)
	if f == nil || f.IsPassword() {
		return op, nil, notPermitted(ref)
	}
	if !r.own.shows(via) {
		return op, r.refuse(ref), nil
	}
	beyond, hidden, err := r.beyond(via, target)
	if err != nil || hidden != nil {
		return op, hidden, err
	}
	if !beyond.shows(f) {
		return op, r.refuse(ref), nil
	}
	return doctype.Operand{Join: r.join(via, target, beyond.where), Field: f}, nil, nil
}

func (r *resolver) refuse(ref query.Ref) error {
	return fault.Denied("User %s may not query by %s of %s", r.caller.User, ref, r.dt.Name)
}

// hop finds the link or table that a ref goes through and where it leads; via
// is nil for a field of the listed DocType itself.
func (r *resolver) hop(ref query.Ref) (via *doctype.Field, target *doctype.DocType, err error) {
	switch {
	case ref.Table == "" || ref.Table == r.dt.Name:
		if asked(r.dt, ref.Name) != nil {
			return nil, nil, nil
		}
		if ref.Table == "" {
			via = r.inOneTable(ref.Name)
		}
	default:
		if via = r.dt.Field(ref.Table); via == nil {
			via = r.tableOf(ref.Table)
		}
	}
	if via == nil || !via.IsLink() && via.Kind != doctype.Rows {
		return nil, nil, notPermitted(ref)
	}
	if target = r.schema.DocType(via.Options); target == nil {
		return nil, nil, notPermitted(ref)
	}
	return via, target, nil
}

// beyond is what the caller sees of the rows a hop leads to. Rows of a table are
// part of their document and have its levels; what a link leads to is seen as
// it would be by itself.
func (r *resolver) beyond(via *doctype.Field, target *doctype.DocType) (of *sight, hidden, err error) {
	if via.Kind == doctype.Rows {
		return &sight{levels: r.own.levels}, nil, nil
	}
	of, err = r.sight(target)
	if fault.KindOf(err) == fault.Permission {
		return nil, err, nil
	}
	return of, nil, err
}

// sight is what the caller sees of a DocType that a link leads to, asked once
// for a list.
func (r *resolver) sight(target *doctype.DocType) (*sight, error) {
	if of := r.sights[target.Name]; of != nil {
		return of, nil
	}
	of, err := r.s.sightOf(r.ctx, r.tx, r.caller, target)
	if err != nil {
		return nil, err
	}
	if r.sights == nil {
		r.sights = make(map[string]*sight)
	}
	r.sights[target.Name] = of
	return of, nil
}

// tableOf finds the first table field whose rows are of the DocType.
func (r *resolver) tableOf(doctype string) *doctype.Field {
	for _, t := range r.dt.Tables {
		if t.Options == doctype {
			return t
		}
	}
	return nil
}

// inOneTable finds the only child table that has a field which the DocType
// lacks; nil when there are several, or none.
func (r *resolver) inOneTable(name string) *doctype.Field {
	var via *doctype.Field
	for _, t := range r.dt.Tables {
		if child := r.schema.DocType(t.Options); child == nil || asked(child, name) == nil {
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
func (r *resolver) join(via *doctype.Field, target *doctype.DocType, seen doctype.Where) int {
	for i, j := range r.sel.Joins {
		if j.Via == via {
			return i + 1
		}
	}
	n := len(r.sel.Joins) + 1
	r.sel.Joins = append(r.sel.Joins, doctype.Join{Via: via, Target: target, On: at(n, seen)})
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
		any := make(doctype.AnyOf, len(w))
		for i, part := range w {
			any[i] = at(join, part)
		}
		return any
	}
	return nil
}
