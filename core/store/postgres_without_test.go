package store

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/store/storetest"
)

// TestPostgresWithout: a server that speaks PostgreSQL and lacks something of it is
// worked with all the same, where a flag of its row says so: the suite passes with each
// switched off.
func TestPostgresWithout(t *testing.T) {
	url := postgresToTest(t)
	for _, tt := range []struct {
		name   string
		off    func(*engine)
		groups []string // none: all
	}{
		{"arrays as arguments", func(e *engine) { e.unnest = nil }, nil},
		{"plans that are kept", func(e *engine) { e.keepsPlans = false }, nil},
		{"NULLS FIRST in an index", func(e *engine) { e.indexNulls = false }, nil},
		{"lengths of text", func(e *engine) { e.alterType, e.shortText = false, "text" }, nil},
		{"SELECT FOR UPDATE", func(e *engine) { e.rowLock = false }, nil},
		// One that lets one transaction write at a time: nothing is run again. This server
		// lets several, so what they do to each other is left out.
		{"races", func(e *engine) { e.races = false }, []string{"Document", "List", "Transaction", "Migrate", "Replace", "Need"}},
		{"LOCK TABLE", func(e *engine) { e.turns, e.lockTimeout = 0, false }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Run(t, func(t testing.TB) document.Store {
				t.Helper()
				e := postgresEngine
				tt.off(&e)
				schema := fmt.Sprintf("without_%d_%d", os.Getpid(), time.Now().UnixNano())
				s, err := openPostgres(t.Context(), url, schema, Options{}, e)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					if err := Drop(context.Background(), url, schema); err != nil {
						t.Error(err)
					}
				})
				return s
			}, tt.groups...)
		})
	}
}
