package document

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

func (r *resolver) order(order []query.Order) error {
	if len(order) == 0 {
		if len(r.sel.Group) > 0 || r.aggregates() {
			return nil
		}
		f, desc := r.dt.DefaultOrder()
		if !r.own.shows(f) { // it would tell what the caller may not read
			f, desc = r.dt.Columns[doctype.ColModified], true
		}
		r.sel.Order = []doctype.OrderBy{{Operand: doctype.Operand{Field: f}, Desc: desc}}
		return nil
	}
	for _, o := range order {
		by, err := r.orderBy(o)
		if err != nil {
			return err
		}
		r.sel.Order = append(r.sel.Order, by)
	}
	return nil
}

func (r *resolver) orderBy(o query.Order) (doctype.OrderBy, error) {
	if o.Ref.Table == "" {
		for _, c := range r.sel.Columns {
			if c.Key == o.Ref.Name && (c.Func != "" || c.Field.Name != c.Key) {
				return doctype.OrderBy{Alias: c.Key, Desc: o.Desc}, nil
			}
		}
	}
	op, err := r.operand(o.Ref)
	if err != nil {
		return doctype.OrderBy{}, err
	}
	return doctype.OrderBy{Operand: op, Desc: o.Desc}, nil
}

func (r *resolver) aggregates() bool {
	return slices.ContainsFunc(r.sel.Columns, func(c doctype.Column) bool { return c.Func != "" })
}
