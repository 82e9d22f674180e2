package store_test

import (
	"fmt"
	"sync"
	"testing"

	"armature/core/document"
	"armature/core/store/pgbouncer"
	"armature/core/store/storetest"
)

// TestPgBouncer: everything that holds of PostgreSQL holds behind a pooler that gives
// connections for one transaction at a time.
func TestPgBouncer(t *testing.T) {
	url := postgresURL(t)
	pooled := pgbouncer.Start(t, url, pgbouncer.Options{})
	storetest.Run(t, func(t testing.TB) document.Store {
		t.Helper()
		return openSchema(t, pooled, newSchema(t, url))
	})
}

// TestPgBouncerIsFound: however the pooler takes the parameters of a connection, the
// tables are in the schema, and what was written in one is not in another, with fewer
// connections to the server than schemas that are used at once.
func TestPgBouncerIsFound(t *testing.T) {
	url := postgresURL(t)
	all := []string{
		"search_path", "statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout", "jit", "plan_cache_mode", "enable_seqscan",
		"default_transaction_isolation", "extra_float_digits", "options",
	}
	for name, o := range map[string]pgbouncer.Options{
		"it refuses parameters":     {Conns: 2},
		"it ignores parameters":     {Conns: 2, Ignore: all},
		"in session mode":           {Mode: "session"},
		"in session mode, ignoring": {Mode: "session", Ignore: all},
	} {
		t.Run(name, func(t *testing.T) {
			pooled := pgbouncer.Start(t, url, o)
			var sites sync.WaitGroup
			schemas := make([]string, 4)
			for n := range schemas {
				schemas[n] = newSchema(t, url)
				s := openSchema(t, pooled, schemas[n])
				migrateNotes(t, s)
				sites.Go(func() {
					for i := range 8 {
						if err := insertNote(t, s, fmt.Sprint("note ", i), schemas[n]); err != nil {
							t.Error(err)
						}
					}
				})
			}
			sites.Wait()
			for _, schema := range schemas {
				var own, foreign int
				err := connect(t, url, schema).QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE text = $1), count(*) FILTER (WHERE text <> $1) FROM "tabNote"`, schema).Scan(&own, &foreign)
				if err != nil || own != 8 || foreign != 0 {
					t.Errorf("%s has %d notes of its own and %d of others: %v", schema, own, foreign, err)
				}
			}
		})
	}
}
