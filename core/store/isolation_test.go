package store_test

import (
	"path/filepath"
	"testing"

	"armature/core/document"
	"armature/core/store/storetest"
)

// Several processes on one database know nothing of each other's races.

func TestIsolationOfProcessesPostgres(t *testing.T) {
	url := postgresURL(t)
	storetest.Isolation(t, func(t testing.TB) document.Store {
		schema := newSchema(t, url)
		return storetest.Spread(openSchema(t, url, schema), openSchema(t, url, schema), openSchema(t, url, schema))
	})
}

func TestIsolationOfProcessesSQLite(t *testing.T) {
	storetest.Isolation(t, func(t testing.TB) document.Store {
		path := filepath.Join(t.TempDir(), "site.db")
		return storetest.Spread(openFile(t, path), openFile(t, path))
	})
}
