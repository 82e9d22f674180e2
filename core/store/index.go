package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"armature/core/doctype"
)

// maxIdentifier is the longest name of a table, column or index in bytes:
// PostgreSQL cuts longer ones than 63 without a word.
const maxIdentifier = 60

// index is one index of a DocType's table.
type index struct {
	name   string
	label  string // of the field, for messages
	fields []*doctype.Field
	unique bool
}

// indexesOf lists the indexes a DocType needs beyond its primary key. One on a
// field goes on with modified: the usual list filters by one and sorts by the
// other, and the database then has no reason to prefer a bad plan. Both end in
// the name, as every list does, so that an import of a hundred thousand
// documents in one moment is not sorted for each page.
func (s *Store) indexesOf(dt *doctype.DocType) []index {
	modified := dt.Columns[doctype.ColModified]
	name := dt.Columns[doctype.ColName]
	all := []index{newIndex(dt, false, modified, name)}
	if dt.Child {
		all = append(all, newIndex(dt, false, dt.Columns[doctype.ColParent], dt.Columns[doctype.ColParentType],
			dt.Columns[doctype.ColParentField], dt.Columns[doctype.ColIdx]))
	}
	if dt.AsksOwner() {
		all = append(all, newIndex(dt, false, dt.Columns[doctype.ColOwner]))
	}
	for _, f := range dt.Columns {
		switch {
		case f.Unique:
			all = append(all, newIndex(dt, true, f))
		case f.Standard:
		case f.Indexed:
			all = append(all, newIndex(dt, false, f, modified, name))
		case f.IsLink():
			all = append(all, newIndex(dt, false, f))
		}
	}
	return all
}

func newIndex(dt *doctype.DocType, unique bool, fields ...*doctype.Field) index {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = f.Column
	}
	return index{name: indexName(dt.Table, columns, unique), label: fields[0].Label, fields: fields, unique: unique}
}

// uniqueIndexName is the name of a unique field's index. Errors carry it.
func uniqueIndexName(dt *doctype.DocType, f *doctype.Field) string {
	return indexName(dt.Table, []string{f.Column}, true)
}

// indexName is the same for the same table and columns, readable at its start
// and unlike any other at its end.
func indexName(table string, columns []string, unique bool) string {
	readable := table + "_" + strings.Join(columns, "_")
	kind := "ix"
	if unique {
		kind = "uq"
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + table + "\x00" + strings.Join(columns, "\x00")))
	if len(readable) > 40 {
		readable = strings.ToValidUTF8(readable[:40], "")
	}
	return readable + "_" + kind + hex.EncodeToString(sum[:4])
}
