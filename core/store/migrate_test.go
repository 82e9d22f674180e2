package store_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/store"
)

// TestIndexesFollowTheFields: switching an index off drops it, and one that an
// operator made stays.
func TestIndexesFollowTheFields(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "site.db")
		s, err := store.OpenSQLite(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		indexesFollow(t, s, db, "SELECT name FROM pragma_index_list('tabNote') WHERE origin = 'c' ORDER BY name")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := postgresURL(t)
		schema := newSchema(t, dsn)
		db, err := sql.Open("pgx", withSetting(dsn, "search_path", `"`+strings.ReplaceAll(schema, `"`, `""`)+`"`))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		indexesFollow(t, openSchema(t, dsn, schema), db, "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'tabNote' AND indexname NOT LIKE '%_pkey' ORDER BY 1")
	})
}

func indexesFollow(t *testing.T, s document.Store, db *sql.DB, list string) {
	define := func(indexed, unique bool) {
		t.Helper()
		dt := doctype.NewDocType(doctype.DocType{Name: "Note", Table: "tabNote"}, []*doctype.Field{
			{Name: "text", Label: "Text", Type: "Data", Kind: doctype.Text, Column: "text", Indexed: indexed},
			{Name: "code", Label: "Code", Type: "Data", Kind: doctype.Text, Column: "code", Unique: unique},
		})
		err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), dt) })
		if err != nil {
			t.Fatal(err)
		}
	}
	indexes := func() (names []string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return names
	}
	define(false, false)
	plain := indexes()
	if len(plain) != 1 {
		t.Fatalf("a DocType without indexed fields has %q", plain)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE INDEX by_hand ON "tabNote" (text, code)`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was dropped can be made again
		define(true, true)
		if got := indexes(); len(got) != 4 {
			t.Fatalf("both on: %q", got)
		}
		define(true, false)
		if got := indexes(); len(got) != 3 || slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "_uq") }) {
			t.Errorf("unique off: %q", got)
		}
		define(false, false)
		if got := indexes(); !slices.Equal(got, append([]string{"by_hand"}, plain...)) {
			t.Errorf("both off: %q, want by_hand and %q", got, plain)
		}
	}
}
