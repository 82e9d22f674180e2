package quota

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// Documents measures a site by what its database has. Both fields are required.
type Documents struct {
	Store   document.Store
	Service func() *document.Service
}

// Counts reports whether documents of a DocType count: rows of child tables are
// parts of documents, and what the platform keeps of its own is bounded by its bytes.
func (d Documents) Counts(typeName string) bool {
	dt := d.Service().Schema().DocType(typeName)
	return dt != nil && !dt.Child && !dt.Single && (dt.Custom || !d.Service().Platform(typeName))
}

// Count counts the documents that do.
func (d Documents) Count(ctx context.Context) (n int64, err error) {
	err = d.Store.Read(ctx, func(tx document.Tx) error {
		n = 0
		for dt := range d.Service().Schema().All {
			if !d.Counts(dt.Name) {
				continue
			}
			some, err := tx.Count(ctx, &doctype.Select{DocType: dt})
			if err != nil {
				return err
			}
			n += some
		}
		return nil
	})
	return n, err
}

// FileBytes are those of the stored contents, each once.
func (d Documents) FileBytes(ctx context.Context) (int64, error) {
	return d.sum(ctx, "File", "file_size", "storage_key")
}

// PluginBytes are those of the stored bundles.
func (d Documents) PluginBytes(ctx context.Context) (int64, error) {
	return d.sum(ctx, "Plugin Version", "size", "name")
}

// sum adds a field up, of one document for each value of another field that has one.
func (d Documents) sum(ctx context.Context, typeName, field, each string) (n int64, err error) {
	dt, err := d.Service().Schema().Platform(typeName)
	if err != nil {
		return 0, err
	}
	by := doctype.Operand{Field: dt.Field(each)}
	sel := &doctype.Select{
		DocType: dt, Group: []doctype.Operand{by},
		Columns: []doctype.Column{
			{Operand: by, Key: each},
			{Operand: doctype.Operand{Field: dt.Field(field)}, Func: query.Max, Key: field},
		},
	}
	err = d.Store.Read(ctx, func(tx document.Tx) error {
		n = 0
		return tx.Rows(ctx, sel, func(values []any) error {
			if values[0] != nil && values[0] != "" {
				size, _ := values[1].(int64)
				n += size
			}
			return nil
		})
	})
	return n, err
}
