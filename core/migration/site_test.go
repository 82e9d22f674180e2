package migration_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/migration"
	"armature/core/query"
	"armature/core/store"
)

// thing is the one DocType of the sites of these tests.
var thing = func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: "Thing", Table: "thing", Fields: []doctype.FieldDefinition{{Name: "n", Type: "Int"}}})
	if err != nil {
		panic(err)
	}
	return dt
}()

var schema = doctype.NewSchema(0, []*doctype.DocType{thing})

// onEach runs a test on every database there is.
func onEach(t *testing.T, test func(t *testing.T, open func() *store.Store)) {
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "site.db")
		test(t, func() *store.Store { return open(t, file, "") })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := os.Getenv("ARMATURE_TEST_POSTGRES")
		if url == "" && os.Getenv("CI") == "true" {
			t.Fatal("ARMATURE_TEST_POSTGRES is not set, and CI must test PostgreSQL")
		}
		if url == "" {
			t.Skip("PostgreSQL is not tested: set ARMATURE_TEST_POSTGRES=postgres://user@host:port/database")
		}
		schema := fmt.Sprintf("migration_%d_%d", os.Getpid(), time.Now().UnixNano())
		t.Cleanup(func() {
			if err := store.Drop(context.Background(), url, schema); err != nil {
				t.Error(err)
			}
		})
		test(t, func() *store.Store { return open(t, url, schema) })
	})
}

func open(t *testing.T, url, schema string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, schema, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// shipped ships the things, all of which are there from the first installation.
type shipped struct {
	version string
	things  int
}

func (s shipped) Version() (string, error)                    { return s.version, nil }
func (shipped) Tables() []*doctype.DocType                    { return nil }
func (shipped) Load(context.Context) (*doctype.Schema, error) { return schema, nil }

func (s shipped) Install(ctx context.Context, write func(context.Context, func(document.Tx) error) error) (*doctype.Schema, []string, error) {
	return schema, nil, write(ctx, func(tx document.Tx) error {
		if err := tx.Migrate(ctx, thing); err != nil {
			return err
		}
		for i := range s.things {
			absent, err := tx.Absent(ctx, thing, []string{name(i)})
			if err != nil {
				return err
			}
			if len(absent) == 0 {
				continue
			}
			doc := doctype.NewDocument(thing)
			doc.Put("name", name(i))
			if err := tx.Insert(ctx, doc); err != nil {
				return err
			}
		}
		return nil
	})
}

func name(i int) string { return fmt.Sprintf("thing %03d", i) }

// count adds one to every thing, some at a time.
func count(step string, at int) migration.Step {
	return migration.Step{Name: step, Run: func(ctx context.Context, w migration.World, cursor string) (string, error) {
		f := thing.Field("n")
		sel := &doctype.Select{
			DocType: thing, Length: at,
			Columns: []doctype.Column{{Operand: doctype.Operand{Field: thing.Columns[doctype.ColName]}, Key: "name"}, {Operand: doctype.Operand{Field: f}, Key: "n"}},
			Where:   doctype.Compare{Operand: doctype.Operand{Field: thing.Columns[doctype.ColName]}, Op: query.Gt, Value: cursor},
			Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: thing.Columns[doctype.ColName]}}},
		}
		values := map[string]int64{}
		err := w.Tx.Rows(ctx, sel, func(row []any) error {
			cursor = row[0].(string)
			values[cursor], _ = row[1].(int64)
			return nil
		})
		if err != nil || len(values) == 0 {
			return "", err
		}
		for name, n := range values {
			if _, err := w.Tx.UpdateIf(ctx, thing, name, nil, map[string]any{"n": n + 1}); err != nil {
				return "", err
			}
		}
		return cursor, nil
	}}
}

// counts reads how often each thing was counted.
func counts(t *testing.T, s document.Store) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	sel := &doctype.Select{DocType: thing, Columns: []doctype.Column{
		{Operand: doctype.Operand{Field: thing.Columns[doctype.ColName]}, Key: "name"}, {Operand: doctype.Operand{Field: thing.Field("n")}, Key: "n"},
	}}
	err := s.Read(t.Context(), func(tx document.Tx) error {
		return tx.Rows(t.Context(), sel, func(row []any) error {
			n, _ := row[1].(int64)
			all[row[0].(string)] = n
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// siteOf is a binary's view of a site.
func siteOf(s document.Store, plan migration.Plan) *migration.Database {
	return &migration.Database{Store: s, Plan: plan, Stale: 50 * time.Millisecond, Seal: func(sealed string) (string, error) {
		if sealed == "" {
			sealed = "sealed"
		}
		return sealed, nil
	}}
}

func plan(version string, things int, migrations ...migration.Migration) migration.Plan {
	return migration.Plan{Migrations: migrations, Shipped: shipped{version, things}}
}
