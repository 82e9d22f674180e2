package document

import (
	"context"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
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
	own    *sight            // of the listed DocType
	sights map[string]*sight // of the DocTypes that links lead to
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

func (r *resolver) authorize(parent string) (err error) {
	switch {
	case r.dt.Single:
		return fault.Invalid("", "%s is a single document; read it by its name", r.dt.Name)
	case r.dt.Child:
		r.own, err = r.s.sightOfRows(r.ctx, r.tx, r.caller, r.dt, parent)
	default:
		r.own, err = r.s.sightToList(r.ctx, r.tx, r.caller, r.dt)
	}
	if err == nil && r.own.where != nil {
		r.restrict(r.own.where)
	}
	return err
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
		if r.own.shows(f) && !f.IsPassword() && !f.IsInternal() {
			r.sel.Columns = append(r.sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
		}
	}
}

// column adds one output column; one the caller may not read is left out.
func (r *resolver) column(qf query.Field) error {
	op, hidden, err := r.locate(qf.Ref)
	if err != nil || hidden != nil {
		return err
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
