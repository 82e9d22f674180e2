package document

import (
	"context"
	"slices"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/query"
)

// page is a list whose rows hold more than their own columns, or one of them
// several times: the rows first, each column once, then one query for each linked
// DocType and for each child table. What is read and what is appended have each at
// most as many bytes as the select says.
type page struct {
	*access.List
	tx     Tx
	rights *access.Rights

	at    []int // by column of the list: where in a row it is
	rows  [][]any
	name  int                 // the column by which rows of child tables are found; -1 without
	links []map[string][]byte // as a row: linked documents
	under []map[string][]byte // as Nested: rows of child tables
}

// appendPage is AppendRows with link fields replaced by the linked documents
// (expand) and with the rows of child tables.
func appendPage(ctx context.Context, tx Tx, dst []byte, rights *access.Rights, l *access.List, q *query.Query) ([]byte, error) {
	p := &page{List: l, tx: tx, rights: rights, name: -1}
	if err := p.read(ctx, q); err != nil {
		return dst, err
	}
	limit := len(dst) + p.Select.MaxBytes
	admitted := freeAnswer
	for n, row := range p.rows {
		if n > 0 {
			dst = append(dst, ',')
		}
		if len(dst) > admitted { // rows may repeat what was read once
			admitted = len(dst) + len(dst)/2
			if err := charge(ctx, admitted); err != nil {
				return dst, err
			}
		}
		if dst = p.appendRow(dst, row, q.AsArrays, limit); len(dst) > limit {
			return dst, doctype.ErrTooManyBytes
		}
	}
	return dst, nil
}

// repeats reports whether a list shows a column more than once.
func repeats(columns []doctype.Column) bool {
	for i := range columns {
		if first(columns, i) < i {
			return true
		}
	}
	return false
}

// first is where the i-th column stands first.
func first(columns []doctype.Column, i int) int {
	return slices.IndexFunc(columns, func(c doctype.Column) bool {
		return c.Operand == columns[i].Operand && c.Func == columns[i].Func
	})
}

func (p *page) read(ctx context.Context, q *query.Query) error {
	sel := *p.Select
	sel.Columns = nil
	for i, c := range p.Select.Columns {
		if before := first(p.Select.Columns, i); before < i {
			p.at = append(p.at, p.at[before])
			continue
		}
		p.at = append(p.at, len(sel.Columns))
		sel.Columns = append(sel.Columns, c)
	}
	if len(p.Nested) > 0 {
		p.name = len(sel.Columns)
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: sel.DocType.Columns[doctype.ColName]}, Key: "name"})
	}
	left := sel.MaxBytes
	err := p.tx.Rows(ctx, &sel, func(values []any) error {
		if left -= size(values); left < 0 {
			return doctype.ErrTooManyBytes
		}
		p.rows = append(p.rows, slices.Clone(values))
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.expand(ctx, q.Expand); err != nil {
		return err
	}
	for i := range p.Nested {
		arrays, err := p.arrays(ctx, &p.Nested[i])
		if err != nil {
			return err
		}
		p.under = append(p.under, arrays)
	}
	return nil
}

// expand reads what the expanded links name, with one query for each DocType
// however many columns link to it.
func (p *page) expand(ctx context.Context, fields []string) error {
	p.links = make([]map[string][]byte, len(p.Select.Columns))
	columns := make(map[string][]int) // by DocType: where in a row
	for i, c := range p.Select.Columns {
		if c.Func == "" && c.Join == 0 && c.Field.IsLink() && slices.Contains(fields, c.Field.Name) {
			columns[c.Field.Options] = append(columns[c.Field.Options], p.at[i])
		}
	}
	for typeName, at := range columns {
		linked, err := linked(ctx, p.tx, p.rights, typeName, column(p.rows, at...), p.Select.MaxBytes)
		if err != nil {
			return err
		}
		for _, i := range at {
			p.links[i] = linked
		}
	}
	return nil
}

// arrays reads the rows of one child table: for each document the JSON of an array
// without its brackets.
func (p *page) arrays(ctx context.Context, n *access.Nested) (map[string][]byte, error) {
	names := column(p.rows, p.name)
	arrays := make(map[string][]byte, len(names))
	if len(names) == 0 {
		return arrays, nil
	}
	left := p.Select.MaxBytes
	err := p.tx.Rows(ctx, n.Rows(names), func(values []any) error {
		if left -= size(values); left < 0 {
			return doctype.ErrTooManyBytes
		}
		name, _ := values[0].(string)
		array := arrays[name]
		if len(array) > 0 {
			array = append(array, ',')
		}
		array = append(array, '{')
		for i, f := range n.Fields {
			if i > 0 {
				array = append(array, ',')
			}
			array = doctype.AppendValue(f.AppendKey(array), f, values[i+1])
		}
		arrays[name] = append(array, '}')
		return nil
	})
	return arrays, err
}

// appendRow appends a row. It stops after the value with which dst has become longer
// than limit.
func (p *page) appendRow(dst []byte, row []any, asArray bool, limit int) []byte {
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
	for i := 0; i <= len(p.Select.Columns); i++ {
		for n := range p.Nested {
			if p.Nested[n].At != i {
				continue
			}
			key(p.Nested[n].Table.Name)
			name, _ := row[p.name].(string)
			dst = append(append(append(dst, '['), p.under[n][name]...), ']')
		}
		if i == len(p.Select.Columns) || len(dst) > limit {
			break
		}
		c, at := p.Select.Columns[i], p.at[i]
		key(c.Key)
		name, _ := row[at].(string)
		if object, ok := p.links[at][name]; ok {
			dst = append(dst, object...)
		} else {
			dst = doctype.AppendValue(dst, c.Field, row[at])
		}
	}
	return append(dst, "}]"[b2i(asArray)])
}
