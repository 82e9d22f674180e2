package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// List is what a client asks of a list, resolved for one caller: every name has
// become a field that the caller may use, every value is canonical.
type List struct {
	Select *doctype.Select
	Nested []Nested // rows of child tables, shown beside the columns

	ctx    context.Context // of the resolving
	of     *Rights
	dt     *doctype.DocType
	own    *Visibility            // of the listed DocType
	sights map[string]*Visibility // of the DocTypes that links lead to
}

// Resolve checks the caller's right to list a DocType and resolves q against it.
// What q expands is left to whoever shows the list: Linked says what of it the
// caller sees. Errors: Denied, and those of a question that cannot be asked.
func (r *Rights) Resolve(ctx context.Context, dt *doctype.DocType, q *query.Query) (*List, error) {
	own, err := r.sightListed(ctx, dt, q.Parent)
	if err != nil {
		return nil, err
	}
	return r.resolveSeen(ctx, dt, q, own)
}

// Linked selects, of documents of those names, what the caller reads of them: all
// their columns, beginning with the name. Nil where the caller reads none of the
// DocType.
func (r *Rights) Linked(ctx context.Context, dt *doctype.DocType, names []any) (*doctype.Select, error) {
	if dt == nil || dt.Single || dt.Child || len(names) == 0 || !r.readsSome(dt) {
		return nil, nil
	}
	seen, err := r.Visibility(ctx, dt) // who may only select it reads none
	if err != nil {
		return nil, err
	}
	l, err := r.resolveSeen(ctx, dt, &query.Query{
		Fields: []query.Field{{Star: true}},
		Filter: query.Cond{Ref: query.Ref{Name: "name"}, Op: query.In, Value: names},
	}, seen)
	if err != nil {
		return nil, err
	}
	return l.Select, nil
}

// readsSome reports whether the caller may read any document of the DocType.
func (r *Rights) readsSome(dt *doctype.DocType) bool {
	return r.InScope(dt, Read) == nil &&
		(ByRole(dt.Permissions, r.Caller, Read) != None || slices.Contains(r.Caller.Shared, dt.Name))
}

// resolveSeen is Resolve for what the caller is known to see of the DocType.
func (r *Rights) resolveSeen(ctx context.Context, dt *doctype.DocType, q *query.Query, own *Visibility) (*List, error) {
	l := &List{ctx: ctx, of: r, dt: dt, own: own, Select: &doctype.Select{DocType: dt, Where: own.Where}}
	if err := l.columns(q.Fields); err != nil {
		return nil, err
	}
	if q.Filter != nil {
		w, err := l.expr(q.Filter)
		if err != nil {
			return nil, err
		}
		l.restrict(w)
	}
	for _, g := range q.Group {
		op, err := l.operand(g)
		if err != nil {
			return nil, err
		}
		l.Select.Group = append(l.Select.Group, op)
	}
	if err := l.order(q.Order); err != nil {
		return nil, err
	}
	if len(l.Nested) > 0 && (len(q.Group) > 0 || l.aggregates()) {
		return nil, fault.Invalid("DataError", "Rows of child tables cannot be nested in groups")
	}
	l.Select.Start, l.Select.Length = q.Start, q.Length
	return l, nil
}

// restrict adds a condition every row must meet.
func (l *List) restrict(w doctype.Where) {
	if l.Select.Where == nil {
		l.Select.Where = w
		return
	}
	l.Select.Where = doctype.AllOf{l.Select.Where, w}
}

func (l *List) columns(fields []query.Field) error {
	if len(fields) == 0 {
		l.Select.Columns = []doctype.Column{{Operand: doctype.Operand{Field: l.dt.Columns[doctype.ColName]}, Key: "name"}}
		return nil
	}
	for _, qf := range fields {
		switch {
		case qf.Nested != nil:
			if err := l.nest(qf); err != nil {
				return err
			}
		case qf.Star && qf.Func == "":
			l.star()
		case qf.Star:
			l.Select.Columns = append(l.Select.Columns, doctype.Column{Func: qf.Func, Key: keyOf(qf)})
		default:
			if err := l.column(qf); err != nil {
				return err
			}
		}
	}
	if len(l.Select.Columns) == 0 && len(l.Nested) == 0 {
		// Nothing asked for may be seen: rows of the name alone would show more
		// than was asked, so the rows are there and empty of meaning.
		l.Select.Columns = []doctype.Column{{Operand: doctype.Operand{Field: l.dt.Columns[doctype.ColName]}, Key: "name"}}
	}
	return nil
}

func (l *List) star() {
	for _, f := range l.dt.Columns {
		if l.own.Shows(f) && !f.IsPassword() && !f.IsInternal() {
			l.Select.Columns = append(l.Select.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
		}
	}
}

// column adds one output column; one the caller may not read is left out.
func (l *List) column(qf query.Field) error {
	op, hidden, err := l.locate(qf.Ref)
	if err != nil || hidden != nil {
		return err
	}
	if (qf.Func == query.Sum || qf.Func == query.Avg) && !numeric(op.Field) {
		return fault.Invalid("DataError", "%s needs a number: %s", qf.Func, qf.Ref)
	}
	l.Select.Columns = append(l.Select.Columns, doctype.Column{Operand: op, Func: qf.Func, Key: keyOf(qf)})
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
