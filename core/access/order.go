package access

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

func (l *List) order(order []query.Order) error {
	if len(order) == 0 {
		if len(l.Select.Group) > 0 || l.aggregates() {
			return nil
		}
		f, desc := l.dt.DefaultOrder()
		if !l.own.Shows(f) { // it would tell what the caller may not read
			f, desc = l.dt.Columns[doctype.ColModified], true
		}
		l.Select.Order = []doctype.OrderBy{{Operand: doctype.Operand{Field: f}, Desc: desc}}
		return nil
	}
	for _, o := range order {
		by, err := l.orderBy(o)
		if err != nil {
			return err
		}
		l.Select.Order = append(l.Select.Order, by)
	}
	return nil
}

func (l *List) orderBy(o query.Order) (doctype.OrderBy, error) {
	if o.Ref.Table == "" {
		for _, c := range l.Select.Columns {
			if c.Key == o.Ref.Name && (c.Func != "" || c.Field.Name != c.Key) {
				return doctype.OrderBy{Alias: c.Key, Desc: o.Desc}, nil
			}
		}
	}
	op, err := l.operand(o.Ref)
	if err != nil {
		return doctype.OrderBy{}, err
	}
	return doctype.OrderBy{Operand: op, Desc: o.Desc}, nil
}

func (l *List) aggregates() bool {
	return slices.ContainsFunc(l.Select.Columns, func(c doctype.Column) bool { return c.Func != "" })
}
