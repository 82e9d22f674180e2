package doctype

import (
	"fmt"
	"slices"
	"strings"
)

// Document is one record in memory. Values are canonical for their field's
// ValueKind and follow DocType.Columns. It belongs to one goroutine.
type Document struct {
	Type   *DocType
	values []any
	rows   map[string][]*Document // by table field
}

// NewDocument makes an empty document: numbers are 0, everything else nil.
func NewDocument(dt *DocType) *Document {
	d := &Document{Type: dt, values: make([]any, len(dt.Columns))}
	for i, f := range dt.Columns {
		d.values[i] = f.Zero()
	}
	return d
}

// LoadDocument makes a document of values read from the store, in the order of
// dt.Columns. The document keeps the slice.
func LoadDocument(dt *DocType, values []any) *Document {
	if len(values) != len(dt.Columns) {
		panic(fmt.Sprintf("doctype: %d values for %d columns of %s", len(values), len(dt.Columns), dt.Name))
	}
	return &Document{Type: dt, values: values}
}

// Zero is the canonical value of a field that says nothing: 0 for numbers, nil for
// everything else.
func (f *Field) Zero() any {
	switch f.Kind {
	case Int, Check:
		return int64(0)
	case Float:
		return float64(0)
	}
	return nil
}

// Name is the document's name; empty before it has one.
func (d *Document) Name() string { return d.TextAt(ColName) }

// Owner is the user who created the document.
func (d *Document) Owner() string { return d.TextAt(ColOwner) }

// Modified is the time of the last change, canonical.
func (d *Document) Modified() string { return d.TextAt(ColModified) }

// Docstatus is 0 draft, 1 submitted, 2 cancelled.
func (d *Document) Docstatus() int64 { n, _ := d.values[ColDocstatus].(int64); return n }

// TextAt is the text in one column of Type.Columns; empty when null.
func (d *Document) TextAt(i int) string { s, _ := d.values[i].(string); return s }

// Values returns the stored values in the order of Type.Columns. The slice is
// the document's own.
func (d *Document) Values() []any { return d.values }

// Get returns the canonical value of a field; nil for an unknown one.
func (d *Document) Get(field string) any {
	if f := d.Type.Field(field); f != nil && f.Index >= 0 {
		return d.values[f.Index]
	}
	return nil
}

// Text returns the value of a text-like field; empty when null or unknown.
func (d *Document) Text(field string) string { s, _ := d.Get(field).(string); return s }

// Int returns the value of a whole-number field; 0 when unknown.
func (d *Document) Int(field string) int64 { n, _ := d.Get(field).(int64); return n }

// Bool reports whether a Check field is set.
func (d *Document) Bool(field string) bool { return d.Int(field) != 0 }

// Put stores a canonical value. It panics on a field the DocType has no column
// for: that is a bug of the caller. Values from outside go through Coerce.
func (d *Document) Put(field string, value any) {
	f := d.Type.Field(field)
	if f == nil || f.Index < 0 {
		panic("doctype: " + d.Type.Name + " has no column " + field)
	}
	d.values[f.Index] = value
}

// Rows returns the rows of a child table, in order.
func (d *Document) Rows(table string) []*Document { return d.rows[table] }

// PutRows replaces the rows of a child table.
func (d *Document) PutRows(table string, rows []*Document) {
	if d.rows == nil {
		d.rows = make(map[string][]*Document, len(d.Type.Tables))
	}
	d.rows[table] = rows
}

// Clone copies the document and its rows.
func (d *Document) Clone() *Document {
	c := &Document{Type: d.Type, values: slices.Clone(d.values)}
	for table, rows := range d.rows {
		copied := make([]*Document, len(rows))
		for i, r := range rows {
			copied[i] = r.Clone()
		}
		c.PutRows(table, copied)
	}
	return c
}

// LinkTarget is the DocType a field's value points into; empty when it is no
// link.
func (d *Document) LinkTarget(f *Field) string {
	switch {
	case f.IsLink():
		return f.Options
	case f.IsDynamicLink():
		return strings.TrimSpace(d.Text(f.Options))
	}
	return ""
}

// SameRows reports whether two lists of rows hold the same.
func SameRows(a, b []*Document) bool {
	return slices.EqualFunc(a, b, func(x, y *Document) bool { return slices.Equal(x.values, y.values) })
}

// SameValue compares a field, which may be a table, of two versions of a document.
func SameValue(f *Field, a, b *Document) bool {
	if f.Kind == Rows {
		return SameRows(a.Rows(f.Name), b.Rows(f.Name))
	}
	return a.values[f.Index] == b.values[f.Index]
}
