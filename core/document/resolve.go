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

// resolver turns a query tree into a Select: every name becomes a field the
// caller may use, every value canonical.
type resolver struct {
	ctx    context.Context // of the one list it resolves
	tx     Tx
	s      *Service
	schema *doctype.Schema
	caller *identity.Caller
	dt     *doctype.DocType
	levels permission.Levels
	only   []string // the fields select shows; nil: all
	sel    *doctype.Select
	nested []nested
}

// resolve checks the caller's right to list the DocType and resolves q against
// it. Expand is left to the caller.
func (s *Service) resolve(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, q *query.Query) (*resolver, error) {
	r := &resolver{ctx: ctx, tx: tx, s: s, schema: s.Schema(), caller: caller, dt: dt, sel: &doctype.Select{DocType: dt}}
	if err := r.authorize(q.Parent); err != nil {
		return nil, err
	}
	if err := r.columns(q.Fields); err != nil {
		return nil, err
	}
	if q.Filter != nil {
		w, err := r.expr(q.Filter)
		if err != nil {
			return nil, err
		}
		r.restrict(w)
	}
	for _, g := range q.Group {
		op, err := r.operand(g)
		if err != nil {
			return nil, err
		}
		r.sel.Group = append(r.sel.Group, op)
	}
	if err := r.order(q.Order); err != nil {
		return nil, err
	}
	if len(r.nested) > 0 && (len(q.Group) > 0 || r.aggregates()) {
		return nil, fault.Invalid("DataError", "Rows of child tables cannot be nested in groups")
	}
	r.sel.Start, r.sel.Length = q.Start, q.Length
	return r, nil
}

// restrict adds a condition every row must meet.
func (r *resolver) restrict(w doctype.Where) {
	if r.sel.Where == nil {
		r.sel.Where = w
		return
	}
	r.sel.Where = doctype.AllOf{r.sel.Where, w}
}

func (r *resolver) authorize(parent string) error {
	if r.dt.Single {
		return fault.Invalid("", "%s is a single document; read it by its name", r.dt.Name)
	}
	if r.dt.Child {
		return r.authorizeChild(parent)
	}
	right := permission.Read
	if permission.For(r.dt.Permissions, r.caller, permission.Read) != permission.Full &&
		permission.For(r.dt.Permissions, r.caller, permission.Select) == permission.Full {
		// select alone shows which documents there are, and no more of them than
		// the fields by which they are searched.
		right, r.only = permission.Select, searchable(r.dt)
	}
	g, err := r.s.guard(r.ctx, r.tx, r.caller, r.dt, right)
	if err != nil {
		return err
	}
	w, err := g.where(r.ctx, r.s, r.tx)
	if err != nil {
		return err
	}
	if w != nil {
		r.restrict(w)
	}
	r.levels = permission.LevelsFor(r.dt.Permissions, r.caller, permission.Read) | 1
	return nil
}

// searchable lists the fields that select shows.
func searchable(dt *doctype.DocType) []string {
	return append([]string{"name", dt.TitleField}, dt.Search...)
}

// reads reports whether the caller may see a field of the DocType itself.
func (r *resolver) reads(f *doctype.Field) bool {
	return r.levels.Has(f.PermLevel) && (r.only == nil || slices.Contains(r.only, f.Name))
}

// authorizeChild lets a child table be listed through a parent DocType that has
// it and that the caller may read in full (reference, section 1.8: parent).
func (r *resolver) authorizeChild(parent string) error {
	r.levels = permission.AllLevels
	if parent == "" && r.caller.Elevated {
		if !inScope(r.caller, r.dt, permission.Read) {
			return outOfScope(r.dt, permission.Read)
		}
		return nil
	}
	p := r.schema.DocType(parent)
	if p == nil || !slices.ContainsFunc(p.Tables, func(f *doctype.Field) bool { return f.Options == r.dt.Name }) {
		return denied(r.caller, r.dt, permission.Read, "")
	}
	if !inScope(r.caller, p, permission.Read) {
		return outOfScope(p, permission.Read)
	}
	if access := permission.For(p.Permissions, r.caller, permission.Read); access != permission.Full {
		return denied(r.caller, r.dt, permission.Read, "")
	}
	r.restrict(doctype.Compare{Operand: doctype.Operand{Field: r.dt.Columns[doctype.ColParentType]}, Op: query.Eq, Value: parent})
	return nil
}

func (r *resolver) columns(fields []query.Field) error {
	if len(fields) == 0 {
		r.sel.Columns = []doctype.Column{{Operand: doctype.Operand{Field: r.dt.Columns[doctype.ColName]}, Key: "name"}}
		return nil
	}
	for _, qf := range fields {
		switch {
		case qf.Nested != nil:
			if err := r.nest(qf); err != nil {
				return err
			}
		case qf.Star && qf.Func == "":
			r.star()
		case qf.Star:
			r.sel.Columns = append(r.sel.Columns, doctype.Column{Func: qf.Func, Key: keyOf(qf)})
		default:
			if err := r.column(qf); err != nil {
				return err
			}
		}
	}
	if len(r.sel.Columns) == 0 && len(r.nested) == 0 {
		// Nothing asked for may be seen: rows of the name alone would show more
		// than was asked, so the rows are there and empty of meaning.
		r.sel.Columns = []doctype.Column{{Operand: doctype.Operand{Field: r.dt.Columns[doctype.ColName]}, Key: "name"}}
	}
	return nil
}

func (r *resolver) star() {
	for _, f := range r.dt.Columns {
		if r.reads(f) && !f.IsPassword() && !f.IsInternal() {
			r.sel.Columns = append(r.sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
		}
	}
}

// column adds one output column; one the caller may not read is left out.
func (r *resolver) column(qf query.Field) error {
	op, readable, err := r.locate(qf.Ref)
	if err != nil {
		return err
	}
	if !readable {
		return nil
	}
	if op.Field.IsPassword() {
		return notPermitted(qf.Ref)
	}
	if (qf.Func == query.Sum || qf.Func == query.Avg) && !numeric(op.Field) {
		return fault.Invalid("DataError", "%s needs a number: %s", qf.Func, qf.Ref)
	}
	r.sel.Columns = append(r.sel.Columns, doctype.Column{Operand: op, Func: qf.Func, Key: keyOf(qf)})
	return nil
}

func numeric(f *doctype.Field) bool {
	return f.Kind == doctype.Int || f.Kind == doctype.Check || f.Kind == doctype.Float
}

func keyOf(qf query.Field) string {
	switch {
	case qf.Alias != "":
		return qf.Alias
	case qf.Func != "" && qf.Star:
		return string(qf.Func) + "(*)"
	case qf.Func != "":
		return string(qf.Func) + "(" + qf.Ref.Name + ")"
	}
	return qf.Ref.Name
}

func notPermitted(ref query.Ref) error {
	return fault.Invalid("DataError", "Field not permitted in query: %s", ref)
}

// operand locates a field that decides which rows come or in what order; one
// the caller may not read is refused, since its value could be guessed.
func (r *resolver) operand(ref query.Ref) (doctype.Operand, error) {
	op, readable, err := r.locate(ref)
	if err != nil {
		return op, err
	}
	if !readable {
		if op.Join > 0 {
			if j := r.sel.Joins[op.Join-1]; j.Via.IsLink() && !inScope(r.caller, j.Target, permission.Read) {
				return op, outOfScope(j.Target, permission.Read)
			}
		}
		return op, fault.Denied("User %s may not query by %s of %s", r.caller.User, ref, r.dt.Name)
	}
	if op.Field.IsPassword() {
		return op, notPermitted(ref)
	}
	return op, nil
}

// asked is the field that a query may name so, or nil.
func asked(dt *doctype.DocType, name string) *doctype.Field {
	if f := dt.Field(name); f != nil && f.Index >= 0 && !f.IsInternal() {
		return f
	}
	return nil
}

// locate finds the column a ref names and whether the caller may read it.
func (r *resolver) locate(ref query.Ref) (op doctype.Operand, readable bool, err error) {
	if ref.Table == "" || ref.Table == r.dt.Name {
		if f := asked(r.dt, ref.Name); f != nil {
			return doctype.Operand{Field: f}, r.reads(f), nil
		}
		if ref.Table == "" {
			return r.inOneTable(ref)
		}
		return op, false, notPermitted(ref)
	}
	via := r.dt.Field(ref.Table)
	if via == nil {
		via = r.tableOf(ref.Table)
	}
	if via == nil || (!via.IsLink() && via.Kind != doctype.Rows) {
		return op, false, notPermitted(ref)
	}
	return r.through(via, ref)
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

// inOneTable finds a field that the DocType lacks but exactly one of its child
// tables has.
func (r *resolver) inOneTable(ref query.Ref) (op doctype.Operand, readable bool, err error) {
	var via *doctype.Field
	for _, t := range r.dt.Tables {
		child := r.schema.DocType(t.Options)
		if child == nil {
			continue
		}
		if asked(child, ref.Name) != nil {
			if via != nil {
				return op, false, notPermitted(ref)
			}
			via = t
		}
	}
	if via == nil {
		return op, false, notPermitted(ref)
	}
	return r.through(via, ref)
}

func (r *resolver) through(via *doctype.Field, ref query.Ref) (op doctype.Operand, readable bool, err error) {
	target := r.schema.DocType(via.Options)
	if target == nil {
		return op, false, notPermitted(ref)
	}
	f := asked(target, ref.Name)
	if f == nil {
		return op, false, notPermitted(ref)
	}
	readable = r.reads(via)
	if via.IsLink() {
		// Rows the caller could not read one by one are not read through a link.
		readable = readable && inScope(r.caller, target, permission.Read) &&
			permission.For(target.Permissions, r.caller, permission.Read) == permission.Full &&
			(permission.LevelsFor(target.Permissions, r.caller, permission.Read) | 1).Has(f.PermLevel)
	}
	return doctype.Operand{Join: r.join(via, target), Field: f}, readable, nil
}

// join returns the number of the join through a field, adding it once.
func (r *resolver) join(via *doctype.Field, target *doctype.DocType) int {
	for i, j := range r.sel.Joins {
		if j.Via == via {
			return i + 1
		}
	}
	r.sel.Joins = append(r.sel.Joins, doctype.Join{Via: via, Target: target})
	return len(r.sel.Joins)
}
