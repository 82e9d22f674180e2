package doctype

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FixColumns fixes fieldnames and physical columns: a field keeps the column it
// has, also under another name, as long as its row in the definition is the
// same; one whose kind changed, or that comes back after a removal with
// another kind, gets a new one. Columns are never dropped, so what the table
// has is kept in retired_columns.
func FixColumns(doc, before *Document) {
	known := map[string]ValueKind{} // every column the table has or had
	retired := ""
	if before != nil {
		retired = before.Text("retired_columns")
	}
	for _, entry := range strings.Fields(retired) {
		if column, kind, ok := strings.Cut(entry, ":"); ok {
			n, _ := strconv.Atoi(kind)
			known[column] = ValueKind(n)
		}
	}
	if before != nil {
		for _, row := range before.Rows("fields") {
			if s, _ := KindOf(row.Text("fieldtype")); row.Text("column_name") != "" {
				known[row.Text("column_name")] = s
			}
		}
	}
	nameFields(doc)
	for _, row := range doc.Rows("fields") {
		kind, ok := KindOf(row.Text("fieldtype"))
		if !ok || kind == NoValue || kind == Rows || row.Bool("is_virtual") {
			row.Put("column_name", nil)
			continue
		}
		column := ""
		if had := FieldBefore(doc, before, row); had != nil {
			column = had.Text("column_name")
		}
		if column == "" || known[column] != kind {
			column = freeColumn(row.Text("fieldname"), kind, known, columnsOf(doc, before, row))
		}
		known[column] = kind
		row.Put("column_name", column)
	}
	var all []string
	for column, kind := range known {
		all = append(all, fmt.Sprintf("%s:%d", column, kind))
	}
	slices.Sort(all)
	doc.Put("retired_columns", strings.Join(all, " "))
}

// nameFields gives every field a name and a label.
func nameFields(doc *Document) {
	for i, row := range doc.Rows("fields") {
		if row.Text("fieldname") == "" {
			row.Put("fieldname", FieldnameFrom(row.Text("label"), i+1))
		}
		if row.Text("label") == "" {
			row.Put("label", LabelFrom(row.Text("fieldname")))
		}
	}
}

// FieldBefore is the row of a field in the definition as it was: the one with
// its fieldname, or, for a field that was renamed, the same row under a name
// that no field has any more.
func FieldBefore(doc, before, row *Document) *Document {
	if before == nil {
		return nil
	}
	if had := fieldRow(before, row.Text("fieldname")); had != nil {
		return had
	}
	for _, had := range before.Rows("fields") {
		if had.Name() == row.Name() && fieldRow(doc, had.Text("fieldname")) == nil {
			return had
		}
	}
	return nil
}

func fieldRow(doc *Document, fieldname string) *Document {
	for _, row := range doc.Rows("fields") {
		if row.Text("fieldname") == fieldname {
			return row
		}
	}
	return nil
}

// columnsOf lists the columns that other fields of the definition hold, or are
// about to keep.
func columnsOf(doc, before, but *Document) map[string]bool {
	held := map[string]bool{}
	for _, row := range doc.Rows("fields") {
		if row == but {
			continue
		}
		if had := FieldBefore(doc, before, row); had != nil {
			held[had.Text("column_name")] = true
		}
		held[row.Text("column_name")] = true
	}
	return held
}

// systemColumns are the columns that every table of PostgreSQL has.
var systemColumns = map[string]bool{
	"tableoid": true, "xmin": true, "cmin": true, "xmax": true, "cmax": true, "ctid": true,
}

func freeColumn(fieldname string, kind ValueKind, known map[string]ValueKind, held map[string]bool) string {
	if len(fieldname) > 50 {
		fieldname = fieldname[:50]
	}
	column := fieldname
	for n := 2; ; n++ {
		if had, taken := known[column]; !held[column] && !systemColumns[column] && (!taken || had == kind) {
			return column
		}
		column = fieldname + "_" + strconv.Itoa(n)
	}
}
