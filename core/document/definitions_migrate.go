package document

import (
	"context"
	"errors"
	"fmt"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// copyPage is how many documents a change of a field's type reads at once.
const copyPage = 1000

// migrate brings the table to the definition that was saved.
func (d definitions) migrate(ctx context.Context, ev *Event, old *doctype.DocType) error {
	dt, err := doctype.Define(doctype.DefinitionOf(ev.Doc))
	if err != nil {
		return err
	}
	if old != nil {
		if err := d.checkUnique(ctx, ev.Tx, old, dt); err != nil {
			return err
		}
	}
	if err := ev.Tx.Migrate(ctx, dt); err != nil {
		return notUnique(err, dt)
	}
	if old != nil {
		if err := d.convert(ctx, ev, old, dt); err != nil {
			return notUnique(err, dt)
		}
	}
	return d.s.publish(ctx, ev.Tx)
}

// checkUnique looks for two documents with one value in a field that is to be
// unique, to name it: the index would only say that there are some.
func (d definitions) checkUnique(ctx context.Context, tx Tx, old, dt *doctype.DocType) error {
	for _, f := range dt.Columns {
		had := columnField(old, f.Column)
		if !f.Unique || had == nil || had.Unique || f.Standard {
			continue
		}
		sel := &doctype.Select{
			DocType: old, Length: 1,
			Columns: []doctype.Column{{Operand: doctype.Operand{Field: had}, Key: "value"}, {Func: query.Count, Key: "n"}},
			Group:   []doctype.Operand{{Field: had}},
			Order:   []doctype.OrderBy{{Alias: "n", Desc: true}},
		}
		if had.Kind.Nullable() {
			sel.Where = doctype.Compare{Operand: doctype.Operand{Field: had}, Op: query.Is, Value: true}
		}
		err := tx.Rows(ctx, sel, func(v []any) error {
			if n, _ := v[1].(int64); n > 1 {
				return fault.Invalid("NonUniqueError", "%s cannot be unique: %d documents have the value %v", f.Title(), n, v[0])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func columnField(dt *doctype.DocType, column string) *doctype.Field {
	for _, f := range dt.Columns {
		if f.Column == column {
			return f
		}
	}
	return nil
}

// notUnique says of a DocType what the store says of a document.
func notUnique(err error, dt *doctype.DocType) error {
	if errors.Is(err, fault.New(fault.Validation, "UniqueValidationError", "")) {
		return fault.Wrap(fault.Validation, "NonUniqueError", err, "%s: %s", dt.Name, fault.From(err).Message)
	}
	return err
}

// convert fills the new column of each field whose type has changed with what
// its old values are in the new type. What has no such form stays in the old
// column, which comes back with the old type.
func (d definitions) convert(ctx context.Context, ev *Event, old, dt *doctype.DocType) error {
	for _, row := range ev.Doc.Rows("fields") {
		had := doctype.FieldBefore(ev.Doc, ev.Before, row)
		if had == nil || had.Text("column_name") == "" || row.Text("column_name") == "" || had.Text("column_name") == row.Text("column_name") {
			continue
		}
		from, to := old.Field(had.Text("fieldname")), dt.Field(row.Text("fieldname"))
		if from == nil || to == nil || from.Index < 0 || to.Index < 0 {
			continue
		}
		if _, err := ev.Tx.Replace(ctx, dt, to, doctype.AllOf{}, to.Zero()); err != nil { // of an earlier time with this type
			return err
		}
		if err := d.convertField(ctx, ev.Tx, old, dt, from, to); err != nil {
			return fmt.Errorf("convert %s: %w", to.Name, err)
		}
	}
	return nil
}

func (d definitions) convertField(ctx context.Context, tx Tx, old, dt *doctype.DocType, from, to *doctype.Field) error {
	name := old.Columns[doctype.ColName]
	for last := ""; ; {
		var page [][2]any
		sel := &doctype.Select{
			DocType: old, Length: copyPage,
			Columns: []doctype.Column{{Operand: doctype.Operand{Field: name}, Key: "name"}, {Operand: doctype.Operand{Field: from}, Key: "value"}},
			Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: name}}},
		}
		if last != "" {
			sel.Where = doctype.Compare{Operand: doctype.Operand{Field: name}, Op: query.Gt, Value: last}
		}
		err := tx.Rows(ctx, sel, func(v []any) error {
			page = append(page, [2]any{v[0], v[1]})
			return nil
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			last, _ = p[0].(string)
			v, err := doctype.Coerce(to, p[1], d.s.zone())
			if err != nil || v == to.Zero() {
				continue
			}
			if _, err := tx.UpdateIf(ctx, dt, last, nil, map[string]any{to.Name: v}); err != nil {
				return err
			}
		}
	}
}
