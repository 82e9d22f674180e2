package document

import (
	"context"
	"encoding/json"

	"armature/core/doctype"
	"armature/core/query"
)

// left is what the deletion of DocTypes has left behind: their tables stay, and
// Deleted Document says whose they are and what is in which column.
type left struct {
	before *doctype.Document // the last definition under the name that is asked for; nil: none
	others map[string]bool   // tables of deleted DocTypes under other names, or with names of another kind
}

// leftDefinition is what is read of a deleted definition.
type leftDefinition struct {
	Name    string `json:"name"`
	Naming  string `json:"autoname"`
	Table   string `json:"table_name"`
	Retired string `json:"retired_columns"`
	Fields  []struct {
		Name   string `json:"fieldname"`
		Type   string `json:"fieldtype"`
		Column string `json:"column_name"`
	} `json:"fields"`
}

// readLeft looks through the definitions that were deleted, the last first.
func (d definitions) readLeft(ctx context.Context, tx Tx, sc *doctype.Schema, name, naming string) (left, error) {
	l := left{others: map[string]bool{}}
	deleted := sc.DocType("Deleted Document")
	if deleted == nil {
		return l, nil // while the built-in DocTypes are being installed
	}
	sel := &doctype.Select{
		DocType: deleted,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: deleted.Field("data")}, Key: "data"}},
		Where:   doctype.Compare{Operand: doctype.Operand{Field: deleted.Field("deleted_doctype")}, Op: query.Eq, Value: doctype.DocTypeName},
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: deleted.Columns[doctype.ColCreation]}, Desc: true}},
	}
	err := tx.Rows(ctx, sel, func(v []any) error {
		var def leftDefinition
		text, _ := v[0].(string)
		if json.Unmarshal([]byte(text), &def) != nil {
			return nil // changed by hand: what is in its table stays unknown
		}
		switch {
		case def.Name != name, doctype.Numbered(def.Naming) != doctype.Numbered(naming):
			l.others[def.Table] = true
		case l.before == nil:
			l.before = def.document(sc)
		}
		return nil
	})
	return l, err
}

// document is as much of the definition as fixColumns asks for.
func (def *leftDefinition) document(sc *doctype.Schema) *doctype.Document {
	doc := doctype.NewDocument(sc.DocType(doctype.DocTypeName))
	doc.Put("name", def.Name)
	doc.Put("table_name", def.Table)
	doc.Put("retired_columns", def.Retired)
	var rows []*doctype.Document
	for _, f := range def.Fields {
		row := doctype.NewDocument(sc.DocType(doctype.DocFieldName))
		row.Put("fieldname", f.Name)
		row.Put("fieldtype", f.Type)
		row.Put("column_name", f.Column)
		rows = append(rows, row)
	}
	doc.PutRows("fields", rows)
	return doc
}

// place gives a new DocType its table and its columns: those of the deleted one
// of its name, whose documents come back with what still fits, or fresh ones.
func (d definitions) place(ctx context.Context, ev *Event, sc *doctype.Schema) error {
	l, err := d.readLeft(ctx, ev.Tx, sc, ev.Doc.Name(), ev.Doc.Text("autoname"))
	if err != nil {
		return err
	}
	table := doctype.TableName(ev.Doc.Name())
	if l.before != nil {
		table = l.before.Text("table_name")
	}
	ev.Doc.Put("table_name", doctype.FreeTable(sc, table, l.others))
	if ev.Doc.Text("table_name") != table {
		l.before = nil
	}
	d.addFields(ev.Doc)
	doctype.FixColumns(ev.Doc, l.before)
	return nil
}
