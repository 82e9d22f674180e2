package main_test

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestTakesOverAnInstallation: an installation on PostgreSQL from before the
// database listed the sites goes on with its sites, their documents and their
// configuration, on machines that have folders of them and on machines that have
// none.
func TestTakesOverAnInstallation(t *testing.T) {
	key := "ARMATURE_SECRET_KEY=" + strings.Repeat("5a", 32)
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: armaturetest.NewDatabase(t, need(t, "ARMATURE_TEST_POSTGRES")), Env: []string{key}}
	in.Run("site", "new", "default")
	in.Run("site", "new", "shop")
	in.Run("user", "add", "jane@example.com", "--site", "shop")
	jane, admin := in.Keys("jane@example.com", "--site", "shop"), in.Keys("Administrator")

	// As it was before: no list, a file for each site that is configured.
	forget := func(configured string) {
		t.Helper()
		db, err := sql.Open("pgx", in.Database)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "DROP SCHEMA armature CASCADE"); err != nil {
			t.Fatal(err)
		}
		if configured != "" {
			armaturetest.Put(t, filepath.Join(in.Data, "sites", "shop", "site_config.json"), []byte(configured))
		}
	}
	forget(`{"hosts": ["shop.example"]}`)
	// Who comes first with another master key does not get the database.
	stranger := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: in.Database}
	if _, stderr, err := stranger.Try("", "site", "list"); err == nil || !strings.Contains(stderr, "master key") || !strings.Contains(stderr, "hint: ") {
		t.Errorf("another master key: %v\n%s", err, stderr)
	}
	s := in.Serve()
	if status := s.On("shop.example", jane); status != http.StatusOK {
		t.Errorf("the shop answers Jane with %d\n%s", status, s.Log)
	}
	if status := s.On("any.example", admin); status != http.StatusOK {
		t.Errorf("the default site answers with %d\n%s", status, s.Log)
	}
	if !strings.Contains(s.Log.String(), `msg="the site was taken into the database`) || strings.Contains(s.Log.String(), "Password") {
		t.Errorf("it says\n%s", s.Log)
	}
	if _, err := os.Stat(filepath.Join(in.Data, "sites", "shop", "site_config.json")); err == nil {
		t.Error("the file looks as if it counted")
	}
	// Another machine, with nothing.
	other := (&armaturetest.Installation{T: t, Data: t.TempDir(), Database: in.Database, Env: in.Env}).Serve()
	if status := other.On("shop.example", jane); status != http.StatusOK {
		t.Errorf("on another machine: %d\n%s", status, other.Log)
	}
	s.Stop()
	other.Stop()

	// A mistake in the default site's file does not make an empty site in its place.
	forget("")
	file := filepath.Join(in.Data, "sites", "default", "site_config.json")
	armaturetest.Put(t, file, []byte(`{"hosts": `))
	if _, stderr, err := in.Try("", "serve", "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(stderr, file) {
		t.Errorf("a configuration that cannot be read: %v\n%s", err, stderr)
	}
	armaturetest.Put(t, file, []byte(`{}`))
	mended := in.Serve()
	if status := mended.On("any.example", admin); status != http.StatusOK {
		t.Errorf("mended: %d\n%s", status, mended.Log)
	}
	mended.Stop()

	// Machines that had no folder in common had the default site all the same; one
	// that has its configuration and comes later is heard, until somebody has
	// configured the site.
	forget("")
	bare := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: in.Database, Env: in.Env}
	alone := bare.Serve()
	if status := alone.On("any.example", admin); status != http.StatusOK {
		t.Errorf("without any folder: %d\n%s", status, alone.Log)
	}
	armaturetest.Put(t, file, []byte(`{"app_name": "from before"}`))
	in.Run("site", "list")
	if got := bare.Run("site", "config", "default", "get", "app_name"); !strings.Contains(got, "from before") {
		t.Errorf("the configuration of the machine that came second: %s", got)
	}
	armaturetest.Put(t, file, []byte(`{"app_name": "too late"}`))
	in.Run("site", "list")
	if got := bare.Run("site", "config", "default", "get", "app_name"); !strings.Contains(got, "from before") {
		t.Errorf("a file that comes later: %s", got)
	}
	alone.Stop()

	// One that was dropped on this machine does not come back, nor one that is
	// missed beside others.
	forget("")
	for _, dir := range []string{"default", "shop"} {
		if err := os.RemoveAll(filepath.Join(in.Data, "sites", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(in.Data, "dropped", "default.2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := in.Run("site", "list"); strings.Contains(got, "default") {
		t.Errorf("the default site was dropped here: %s", got)
	}
	forget("")
	if err := os.Mkdir(filepath.Join(in.Data, "sites", "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(in.Data, "dropped")); err != nil {
		t.Fatal(err)
	}
	if got := in.Run("site", "list"); strings.Contains(got, "default") || !strings.Contains(got, "shop") {
		t.Errorf("the default site is none of this machine's: %s", got)
	}
}
