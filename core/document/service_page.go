package document

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// page is a list whose rows hold more than their own columns: the rows first,
// then one query for each linked DocType and for each child table.
type page struct {
	columns []doctype.Column
	rows    [][]any
	name    int                 // the column by which rows of child tables are found; -1 without
	links   []map[string][]byte // by column: linked documents
	nested  []map[string][]byte // as resolver.nested: rows of child tables
}

// appendPage is AppendRows with link fields replaced by the linked documents
// (expand) and with the rows of child tables.
func (r *resolver) appendPage(dst []byte, q *query.Query) ([]byte, error) {
	p, err := r.readPage(q)
	if err != nil {
		return dst, err
	}
	for n, row := range p.rows {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = r.appendPageRow(dst, p, row, q.AsArrays)
	}
	return dst, nil
}

func (r *resolver) readPage(q *query.Query) (*page, error) {
	p := &page{columns: r.sel.Columns, name: -1}
	sel := *r.sel
	if len(r.nested) > 0 {
		p.name = len(sel.Columns)
		sel.Columns = append(slices.Clip(sel.Columns), doctype.Column{Operand: doctype.Operand{Field: r.dt.Columns[doctype.ColName]}, Key: "name"})
	}
	err := r.tx.Rows(r.ctx, &sel, func(values []any) error {
		p.rows = append(p.rows, slices.Clone(values))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.expand(p, q.Expand); err != nil {
		return nil, err
	}
	for i := range r.nested {
		arrays, err := r.nested[i].read(r, column(p.rows, p.name))
		if err != nil {
			return nil, err
		}
		p.nested = append(p.nested, arrays)
	}
	return p, nil
}

// expand reads what the expanded links name, with one query for each DocType
// however many columns link to it.
func (r *resolver) expand(p *page, fields []string) error {
	p.links = make([]map[string][]byte, len(p.columns))
	columns := make(map[string][]int) // by DocType
	for i, c := range p.columns {
		if c.Func == "" && c.Join == 0 && c.Field.IsLink() && slices.Contains(fields, c.Field.Name) {
			columns[c.Field.Options] = append(columns[c.Field.Options], i)
		}
	}
	for doctype, at := range columns {
		linked, err := r.s.linked(r.ctx, r.tx, r.caller, doctype, column(p.rows, at...))
		if err != nil {
			return err
		}
		for _, i := range at {
			p.links[i] = linked
		}
	}
	return nil
}

func (r *resolver) appendPageRow(dst []byte, p *page, row []any, asArray bool) []byte {
	dst = append(dst, "{["[b2i(asArray)])
	first := true
	key := func(name string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if !asArray {
			dst = doctype.AppendKey(dst, name)
		}
	}
	for i := 0; i <= len(p.columns); i++ {
		for n := range r.nested {
			if r.nested[n].at != i {
				continue
			}
			key(r.nested[n].table.Name)
			name, _ := row[p.name].(string)
			dst = append(append(append(dst, '['), p.nested[n][name]...), ']')
		}
		if i == len(p.columns) {
			break
		}
		c := p.columns[i]
		key(c.Key)
		name, _ := row[i].(string)
		if object, ok := p.links[i][name]; ok {
			dst = append(dst, object...)
		} else {
			dst = doctype.AppendValue(dst, c.Field, row[i])
		}
	}
	return append(dst, "}]"[b2i(asArray)])
}
