package migration

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// State is what the database of a site says of itself.
type State struct {
	Sealed    string // the site's key, sealed with the master key
	Format    int64  // 0: from before formats had numbers
	Reader    int64  // the lowest format whose binaries may use the site
	Installed string // what the binary that brought the site here has shipped
	Identity  string // of this database, and of copies of it
	Lineage   string // of the site: what comes out of its archives has it as well
	Paused    string // why nothing leaves the site by itself; empty: what it has to send is sent
}

// Table is the table of a site's database that holds its state.
const Table = "armature_secret"

// stateName is the name of the one document of the state table.
const stateName = "site"

// tables are those of this package. They belong to no DocType of the schema, so
// that no request can name them. Their fields stay as long as there are sites: a
// binary of any format reads them before it knows more.
var tables = sync.OnceValue(func() (t struct{ state, journal *doctype.DocType }) {
	t.state = private("Site Secret", Table, []doctype.FieldDefinition{
		{Name: "sealed", Type: "Long Text"},
		{Name: "installed", Type: "Data"},
		{Name: "format", Type: "Int"},
		{Name: "reader", Type: "Int"},
		{Name: "identity", Type: "Data"},
		{Name: "origin", Type: "Data"},
		{Name: "paused", Type: "Data"},
		{Name: "holder", Type: "Data"}, // of the lease; empty: nobody
		{Name: "beat", Type: "Int"},    // grows with every sign of the holder's life
	})
	t.journal = private("Site Migration", "armature_migration", []doctype.FieldDefinition{
		{Name: "number", Type: "Int", Indexed: 1},
		{Name: "step", Type: "Data"},
		{Name: "cursor", Type: "Long Text"},
		{Name: "done", Type: "Check"},
	})
	return t
})

func private(name, table string, fields []doctype.FieldDefinition) *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: name, Table: table, Fields: fields})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
}

// Tables are those of this package.
func Tables() []*doctype.DocType { return []*doctype.DocType{tables().state, tables().journal} }

// schema is the tables of this package as a schema, for reading them.
func schema() *doctype.Schema {
	return doctype.NewSchema(0, Tables())
}

// Read reads the state of a site. The state of a database in which no binary that
// knows formats has been is an error, of whatever kind its database has for a
// column that is not there.
func Read(ctx context.Context, store document.Store) (s State, err error) {
	err = store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, schema(), tables().state, stateName, false)
		if err == nil {
			s = stateOf(doc)
		}
		return err
	})
	return s, err
}

// Sealed reads the key of a site, as it is kept in a database of any format; "":
// the site was not made to its end.
func Sealed(ctx context.Context, store document.Store) (sealed string, err error) {
	f := tables().state.Field("sealed")
	sel := &doctype.Select{DocType: tables().state, Columns: []doctype.Column{{Operand: doctype.Operand{Field: f}, Key: f.Name}}}
	err = store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			sealed, _ = v[0].(string)
			return nil
		})
	})
	return sealed, err
}

func stateOf(doc *doctype.Document) State {
	return State{
		Sealed: doc.Text("sealed"), Installed: doc.Text("installed"), Format: doc.Int("format"), Reader: doc.Int("reader"),
		Identity: doc.Text("identity"), Lineage: doc.Text("origin"), Paused: doc.Text("paused"),
	}
}

// Pause notes that nothing is to leave a site by itself, and why, or with "" that it
// may again. Servers take it over as they do a change of a DocType.
func Pause(ctx context.Context, store document.Store, why string) error {
	return store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		if _, err := tx.UpdateIf(ctx, tables().state, stateName, nil, map[string]any{"paused": why}); err != nil {
			return err
		}
		_, err := tx.BumpSchema(ctx)
		return err
	})
}

// Write makes the state of a database that has none: of a site that comes out of
// an archive, whose format is the archive's.
func Write(ctx context.Context, tx document.Tx, s State) error {
	if err := tx.Migrate(ctx, tables().state); err != nil {
		return err
	}
	return tx.Insert(ctx, newState(s))
}

func newState(s State) *doctype.Document {
	id := rand.Text()
	return stamped(tables().state, map[string]any{
		"name": stateName, "sealed": s.Sealed, "installed": s.Installed, "format": s.Format, "reader": s.Reader,
		"identity": id, "origin": cmp.Or(s.Lineage, id), "paused": s.Paused, "holder": "", "beat": int64(0),
	})
}

// stamped makes a document of the platform's own.
func stamped(dt *doctype.DocType, values map[string]any) *doctype.Document {
	doc := doctype.NewDocument(dt)
	now := doctype.FormatDatetime(time.Now().UTC())
	for _, field := range []string{"creation", "modified"} {
		doc.Put(field, now)
	}
	for _, field := range []string{"owner", "modified_by"} {
		doc.Put(field, identity.Administrator)
	}
	for field, value := range values {
		doc.Put(field, value)
	}
	return doc
}

// found reports whether err is nil, and hides that there was no document.
func found(err error) (bool, error) {
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}
