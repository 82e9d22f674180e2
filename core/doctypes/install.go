package doctypes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Shipped is what this binary brings to one site.
type Shipped struct {
	Store  document.Store
	Now    func() time.Time // the site's wall clock
	Log    *slog.Logger
	Beside []*doctype.DocType // tables that belong to no DocType of the schema
}

// Version names what this binary ships: another text, another Install.
func (s *Shipped) Version() (string, error) {
	parts, err := s.Parts()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(parts)
	return hashed(text), err
}

// Parts are what this binary ships, each with a hash of it: DocTypes, records and
// tables beside them. Any of them changes only with the number of a migration.
func (s *Shipped) Parts() (map[string]string, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	parts := maps.Clone(all.parts)
	for _, dt := range s.Beside {
		var columns []byte // what the database has of them, and nothing a refactoring changes
		for _, f := range dt.Columns {
			columns = fmt.Appendln(columns, f.Name, f.Column, f.Type, f.Length, f.Unique, f.Indexed)
		}
		parts["table "+dt.Table] = hashed(columns)
	}
	return parts, nil
}

// Tables are the tables that belong to no DocType of the schema.
func (s *Shipped) Tables() []*doctype.DocType { return s.Beside }

// Install brings a site's built-in DocTypes and records to what this binary
// ships and returns the schema. It may be repeated: a DocType whose definition
// equals the stored one is left alone, a changed one is migrated, a record that
// exists is never touched again, since it is the user's by then. A DocType that the
// site has made itself under a name that is shipped stays as it is, and is
// reported as withheld. What is written is written by the given function.
func (s *Shipped) Install(ctx context.Context, write func(context.Context, func(document.Tx) error) error) (schema *doctype.Schema, withheld []string, err error) {
	all, err := shipped()
	if err != nil {
		return nil, nil, err
	}
	in := &installer{write: write, boot: all.boot, now: s.Now, log: s.Log}
	if err := in.definitions(ctx, all.types); err != nil {
		return nil, nil, fmt.Errorf("install DocTypes: %w", err)
	}
	if schema, err = s.Load(ctx); err != nil {
		return nil, nil, err
	}
	if err := in.records(ctx, schema, all.records); err != nil {
		return nil, nil, fmt.Errorf("install records: %w", err)
	}
	return schema, in.withheld, nil
}

// Load reads the schema of a site as it is.
func (s *Shipped) Load(ctx context.Context) (*doctype.Schema, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	v, err := s.Store.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var schema *doctype.Schema
	err = s.Store.Read(ctx, func(tx document.Tx) error {
		schema, err = document.LoadSchema(ctx, tx, all.boot, v.Schema)
		return err
	})
	return schema, err
}

// Install installs what this binary ships in a store that nobody else uses.
func Install(ctx context.Context, store document.Store, now func() time.Time, log *slog.Logger) (*doctype.Schema, error) {
	s := &Shipped{Store: store, Now: now, Log: log}
	schema, _, err := s.Install(ctx, func(ctx context.Context, fn func(document.Tx) error) error {
		return store.Write(ctx, document.OwnTx, fn)
	})
	return schema, err
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
	write func(context.Context, func(document.Tx) error) error
	boot  *doctype.Schema
	now   func() time.Time
	log   *slog.Logger

	tables   map[string]string // of the DocTypes that are stored, and whose they are
	withheld []string
}

// definitions migrates and stores, in one transaction, the DocTypes that differ
// from what is stored.
func (in *installer) definitions(ctx context.Context, all []*builtin) error {
	return in.write(ctx, func(tx document.Tx) error {
		for _, b := range all[:3] { // the tables that hold DocTypes
			if err := tx.Migrate(ctx, in.boot.DocType(b.Name)); err != nil {
				return err
			}
		}
		if err := in.readTables(ctx, tx); err != nil {
			return err
		}
		in.withheld = nil // the transaction may run again
		var changed []*builtin
		for _, b := range all {
			stored, err := tx.Get(ctx, in.boot, in.boot.DocType(doctype.DocTypeName), b.Name, true)
			if fault.KindOf(err) == fault.NotFound {
				stored, err = nil, nil
			}
			if err != nil {
				return err
			}
			if stored != nil && stored.Bool("custom") {
				in.withheld = append(in.withheld, b.Name)
				in.log.Warn("the site has a DocType of its own under a name that the platform uses now: the platform's is not installed, and what belongs to it is off", "doctype", b.Name)
				continue
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

// readTables reads which tables there are: a DocType of the site's own may have the
// one that a shipped one would be given.
func (in *installer) readTables(ctx context.Context, tx document.Tx) error {
	in.tables = map[string]string{}
	head := in.boot.DocType(doctype.DocTypeName)
	sel := &doctype.Select{DocType: head}
	for _, name := range []string{"name", "table_name"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: head.Field(name)}, Key: name})
	}
	return tx.Rows(ctx, sel, func(v []any) error {
		name, _ := v[0].(string)
		table, _ := v[1].(string)
		in.tables[table] = name
		return nil
	})
}

// place is a DocType with the table that it has, or else one that is free.
func (in *installer) place(b *builtin, stored *doctype.Document) (*doctype.DocType, error) {
	dt := in.boot.DocType(b.Name)
	table := dt.Table
	if stored != nil {
		table = stored.Text("table_name")
	}
	for n := 2; in.tables[table] != "" && in.tables[table] != b.Name; n++ {
		table = fmt.Sprintf("%s_%d", dt.Table, n)
	}
	if table == dt.Table {
		return dt, nil
	}
	elsewhere := b.Definition
	elsewhere.Table = table
	return doctype.Define(elsewhere)
}

func (in *installer) definition(ctx context.Context, tx document.Tx, b *builtin, stored *doctype.Document) error {
	dt, err := in.place(b, stored)
	if err != nil {
		return err
	}
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
	return in.write(ctx, func(tx document.Tx) error {
		for _, values := range all {
			if err := in.record(ctx, tx, schema, values); err != nil {
				return err
			}
		}
		return nil
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
