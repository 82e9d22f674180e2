package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/site"
)

// stateTable holds one document of every site: its key, and what was installed
// last. It is no DocType of the schema, so that no request can name it.
//
// The key lies in the site's database, sealed with the master key: whoever has
// the database and the master key has the whole site, and servers that share a
// database share the key.
var stateTable = sync.OnceValues(func() (*doctype.DocType, error) {
	return doctype.Define(doctype.Definition{
		Name: "Site Secret", Table: "armature_secret",
		Fields: []doctype.FieldDefinition{
			{Name: "sealed", Type: "Long Text"},
			{Name: "installed", Type: "Data"},
		},
	})
})

// stateName is the name of the one document in the table.
const stateName = "site"

// privateTables are those that no request can name.
func privateTables() ([]*doctype.DocType, error) {
	state, err := stateTable()
	return append([]*doctype.DocType{state}, auth.Tables()...), err
}

// version names everything that installing brings about. A site that was brought
// to it needs nothing when it is opened, which is what makes opening cheap.
var version = sync.OnceValues(func() (string, error) {
	tables, err := privateTables()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	shipped, err := doctypes.Version()
	if err != nil {
		return "", err
	}
	sum.Write([]byte(shipped))
	for _, dt := range tables {
		text, err := json.Marshal(dt.Columns)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %s\n", dt.Table, text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})

// prepare brings a site's database to what this binary ships and returns the
// site's key and DocTypes. Where that has been done before it only reads.
func (s *Set) prepare(ctx context.Context, t *Tenant, now func() time.Time) (*site.Secret, *doctype.Schema, error) {
	want, err := version()
	if err != nil {
		return nil, nil, err
	}
	sealed, installed, err := readState(ctx, t.Store)
	if err == nil && installed == want {
		secret, err := s.c.Master.OpenSecret(sealed)
		if err != nil {
			return nil, nil, err
		}
		schema, err := doctypes.Load(ctx, t.Store)
		return secret, schema, err
	}
	if fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return nil, nil, err
	}
	// Any other error is that of a new database, or of one made by another version.
	secret, err := s.installTables(ctx, t.Store)
	if err != nil {
		return nil, nil, err
	}
	schema, err := doctypes.Install(ctx, t.Store, now, t.log)
	if err != nil {
		return nil, nil, err
	}
	return secret, schema, noteInstalled(ctx, t.Store, want)
}

// readState reads the document of the state table.
func readState(ctx context.Context, store document.Store) (sealed, installed string, err error) {
	dt, err := stateTable()
	if err != nil {
		return "", "", err
	}
	err = store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, doctype.NewSchema(0, []*doctype.DocType{dt}), dt, stateName, false)
		if err == nil {
			sealed, installed = doc.Text("sealed"), doc.Text("installed")
		}
		return err
	})
	return sealed, installed, err
}

// installTables makes the private tables and, on a new site, its key. Of two
// processes that make a key, one wins.
func (s *Set) installTables(ctx context.Context, store document.Store) (secret *site.Secret, err error) {
	tables, err := privateTables()
	if err != nil {
		return nil, err
	}
	private, dt := doctype.NewSchema(0, tables), tables[0]
	err = store.Write(ctx, document.Alone, func(tx document.Tx) error {
		for _, table := range tables {
			if err := tx.Migrate(ctx, table); err != nil {
				return fmt.Errorf("table %s: %w", table.Table, err)
			}
		}
		doc, err := tx.Get(ctx, private, dt, stateName, true)
		if err == nil {
			secret, err = s.c.Master.OpenSecret(doc.Text("sealed"))
			return err
		}
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		var sealed string
		sealed, secret = s.c.Master.NewSecret()
		return tx.Insert(ctx, newState(dt, sealed, ""))
	})
	if err != nil {
		return nil, fmt.Errorf("key of the site: %w", err)
	}
	return secret, nil
}

func newState(dt *doctype.DocType, sealed, installed string) *doctype.Document {
	doc := doctype.NewDocument(dt)
	now := doctype.FormatDatetime(time.Now().UTC())
	for field, value := range map[string]any{
		"name": stateName, "sealed": sealed, "installed": installed,
		"owner": identity.Administrator, "modified_by": identity.Administrator, "creation": now, "modified": now,
	} {
		doc.Put(field, value)
	}
	return doc
}

func noteInstalled(ctx context.Context, store document.Store, version string) error {
	dt, err := stateTable()
	if err != nil {
		return err
	}
	return store.Write(ctx, document.Brief, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, dt, stateName, nil, map[string]any{"installed": version})
		return err
	})
}
