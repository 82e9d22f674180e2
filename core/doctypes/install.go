package doctypes

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Install brings a site's built-in DocTypes and records to what this binary
// ships and returns the schema. now is the site's wall clock.
func Install(ctx context.Context, store document.Store, now func() time.Time, log *slog.Logger) (*doctype.Schema, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	in := &installer{store: store, boot: all.boot, now: now, log: log}
	if err := in.definitions(ctx, all.types); err != nil {
		return nil, fmt.Errorf("install DocTypes: %w", err)
	}
	schema, err := Load(ctx, store)
	if err != nil {
		return nil, err
	}
	if err := in.records(ctx, schema, all.records); err != nil {
		return nil, fmt.Errorf("install records: %w", err)
	}
	return schema, nil
}

// Load reads the schema of a site that was installed before, by this binary or
// one that ships the same Version.
func Load(ctx context.Context, store document.Store) (*doctype.Schema, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	v, err := store.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var schema *doctype.Schema
	err = store.Read(ctx, func(tx document.Tx) error {
		schema, err = document.LoadSchema(ctx, tx, all.boot, v.Schema)
		return err
	})
	return schema, err
}

// Version names what this binary ships: another text, another Install.
func Version() (string, error) {
	all, err := shipped()
	if err != nil {
		return "", err
	}
	return all.version, nil
}

// Boot is the built-in DocTypes by themselves: enough to read the DocTypes that
// are stored.
func Boot() (*doctype.Schema, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	return all.boot, nil
}

type installer struct {
	store document.Store
	boot  *doctype.Schema
	now   func() time.Time
	log   *slog.Logger
}

// definitions migrates and stores, in one transaction, the DocTypes that differ
// from what is stored.
func (in *installer) definitions(ctx context.Context, all []*builtin) error {
	return in.store.Write(ctx, document.Alone, func(tx document.Tx) error {
		for _, b := range all[:3] { // the tables that hold DocTypes
			if err := tx.Migrate(ctx, in.boot.DocType(b.Name)); err != nil {
				return err
			}
		}
		var changed []*builtin
		for _, b := range all {
			stored, err := tx.Get(ctx, in.boot, in.boot.DocType(doctype.DocTypeName), b.Name, true)
			if fault.KindOf(err) == fault.NotFound {
				stored, err = nil, nil
			}
			if err != nil {
				return err
			}
			if stored != nil && stored.Text("definition_hash") == b.hash {
				continue
			}
			if err := in.definition(ctx, tx, b, stored); err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			changed = append(changed, b)
		}
		if len(changed) == 0 {
			return nil
		}
		in.log.Info("built-in DocTypes installed", "doctypes", title(changed))
		_, err := tx.BumpSchema(ctx)
		return err
	})
}

func (in *installer) definition(ctx context.Context, tx document.Tx, b *builtin, stored *doctype.Document) error {
	dt := in.boot.DocType(b.Name)
	if err := tx.Migrate(ctx, dt); err != nil {
		return err
	}
	doc, err := in.document(in.boot.DocType(doctype.DocTypeName), b.values)
	if err != nil {
		return err
	}
	doc.Put("name", b.Name)
	doc.Put("table_name", dt.Table)
	doc.Put("definition_hash", b.hash)
	for _, row := range doc.Rows("fields") {
		if f := dt.Field(row.Text("fieldname")); f != nil && f.Column != "" {
			row.Put("column_name", f.Column)
		}
	}
	in.own(doc)
	if stored == nil {
		return tx.Insert(ctx, doc)
	}
	_, err = tx.Update(ctx, in.boot, doc, doc.Type.Columns[doctype.ColModified:], doc.Type.Tables, "")
	return err
}

// document makes a document of shipped values; unknown keys are a mistake in
// the shipped file.
func (in *installer) document(dt *doctype.DocType, values map[string]any) (*doctype.Document, error) {
	doc := doctype.NewDocument(dt)
	for key, v := range values {
		f := dt.Field(key)
		switch {
		case key == "doctype":
		case f == nil:
			return nil, fmt.Errorf("%s has no field %s", dt.Name, key)
		case f.Kind == doctype.Rows:
			if err := in.rows(doc, f, v); err != nil {
				return nil, err
			}
		default:
			got, err := doctype.Coerce(f, v, in.now().Location())
			if err != nil {
				return nil, err
			}
			doc.Put(key, got)
		}
	}
	return doc, nil
}

func (in *installer) rows(doc *doctype.Document, table *doctype.Field, v any) error {
	child := in.boot.DocType(table.Options)
	list, _ := v.([]any)
	rows := make([]*doctype.Document, 0, len(list))
	for _, item := range list {
		values, _ := item.(map[string]any)
		row, err := in.document(child, values)
		if err != nil {
			return err
		}
		row.Put("name", document.HashName(in.now()))
		rows = append(rows, row)
	}
	doc.PutRows(table.Name, rows)
	return nil
}

// own stamps a document as made by the platform.
func (in *installer) own(doc *doctype.Document) {
	now := doctype.FormatDatetime(in.now())
	for _, d := range append([]*doctype.Document{doc}, document.RowsOf(doc)...) {
		d.Put("owner", identity.Administrator)
		d.Put("modified_by", identity.Administrator)
		d.Put("creation", now)
		d.Put("modified", now)
	}
	for _, t := range doc.Type.Tables {
		for i, row := range doc.Rows(t.Name) {
			row.Put("idx", int64(i+1))
			row.Put("parent", doc.Name())
			row.Put("parentfield", t.Name)
			row.Put("parenttype", doc.Type.Name)
		}
	}
}

// records stores the shipped records that are not there yet.
func (in *installer) records(ctx context.Context, schema *doctype.Schema, all []map[string]any) error {
	return in.store.Write(ctx, document.Alone, func(tx document.Tx) error {
		// The row of the counter keeps other processes that install from finding
		// the same records absent.
		turn, err := tx.Next(ctx, "installations")
		if err != nil {
			return err
		}
		for _, values := range all {
			if err := in.record(ctx, tx, schema, values); err != nil {
				return err
			}
		}
		return tx.Return(ctx, "installations", turn)
	})
}

func (in *installer) record(ctx context.Context, tx document.Tx, schema *doctype.Schema, values map[string]any) error {
	dt := schema.DocType(values["doctype"].(string))
	doc, err := in.document(dt, values)
	if err != nil {
		return err
	}
	if doc.Name() == "" {
		doc.Put("name", doc.Text(dt.NamingField()))
	}
	absent, err := tx.Absent(ctx, dt, []string{doc.Name()})
	if err != nil || len(absent) == 0 {
		return err
	}
	in.own(doc)
	return tx.Insert(ctx, doc)
}
