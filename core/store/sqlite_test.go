package store_test

import (
	"path/filepath"
	"testing"

	"armature/core/document"
	"armature/core/store"
	"armature/core/store/storetest"
)

func openSQLite(t testing.TB) document.Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "site ?#%.db"))
}

func openFile(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.OpenSQLite(t.Context(), path, store.Options{})
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

func TestSQLite(t *testing.T) { storetest.Run(t, openSQLite) }
