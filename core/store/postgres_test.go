package store_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/document"
	"armature/core/store"
	"armature/core/store/storetest"
)

// postgresURL names the server to test on. Where tests must not be left out it
// has to be there.
func postgresURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("ARMATURE_TEST_POSTGRES")
	if url == "" && os.Getenv("CI") == "true" {
		t.Fatal("ARMATURE_TEST_POSTGRES is not set, and CI must test PostgreSQL")
	}
	if url == "" {
		t.Skip("PostgreSQL is not tested: set ARMATURE_TEST_POSTGRES=postgres://user@host:port/database")
	}
	return url
}

var schemas atomic.Int64

// newSchema names a schema of its own for one test and drops it afterwards.
func newSchema(t testing.TB, url string) string {
	t.Helper()
	name := fmt.Sprintf(`test "%d" %d`, os.Getpid(), schemas.Add(1))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, "DROP SCHEMA "+pgx.Identifier{name}.Sanitize()+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return name
}

func openPostgres(t testing.TB) document.Store {
	t.Helper()
	url := postgresURL(t)
	return openSchema(t, url, newSchema(t, url))
}

func openSchema(t testing.TB, url, schema string) *store.Store {
	t.Helper()
	s, err := store.OpenPostgres(t.Context(), url, schema, store.Options{})
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

func TestPostgres(t *testing.T) {
	postgresURL(t)
	storetest.Run(t, openPostgres)
}
