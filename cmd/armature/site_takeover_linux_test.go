package main_test

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTakesOverAnInstallation: an installation on PostgreSQL from before the
// database listed the sites goes on with its sites, their documents and their
// configuration, on machines that have folders of them and on machines that have
// none.
func TestTakesOverAnInstallation(t *testing.T) {
	key := "ARMATURE_SECRET_KEY=" + strings.Repeat("5a", 32)
	in := &installation{t: t, data: t.TempDir(), database: newDatabase(t, need(t, "ARMATURE_TEST_POSTGRES")), env: []string{key}}
	in.run("site", "new", "default")
	in.run("site", "new", "shop")
	in.run("user", "add", "jane@example.com", "--site", "shop")
	jane, admin := in.keys("jane@example.com", "--site", "shop"), in.keys("Administrator")

	// As it was before: no list, a file for each site that is configured.
	forget := func(configured string) {
		t.Helper()
		db, err := sql.Open("pgx", in.database)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "DROP SCHEMA armature CASCADE"); err != nil {
			t.Fatal(err)
		}
		if configured != "" {
			put(t, filepath.Join(in.data, "sites", "shop", "site_config.json"), []byte(configured))
		}
	}
	forget(`{"hosts": ["shop.example"]}`)
	// Who comes first with another master key does not get the database.
	stranger := &installation{t: t, data: t.TempDir(), database: in.database}
	if _, stderr, err := stranger.try("", "site", "list"); err == nil || !strings.Contains(stderr, "master key") || !strings.Contains(stderr, "hint: ") {
		t.Errorf("another master key: %v\n%s", err, stderr)
	}
	s := in.serve()
	if status := s.on("shop.example", jane); status != http.StatusOK {
		t.Errorf("the shop answers Jane with %d\n%s", status, s.log)
	}
	if status := s.on("any.example", admin); status != http.StatusOK {
		t.Errorf("the default site answers with %d\n%s", status, s.log)
	}
	if !strings.Contains(s.log.String(), `msg="the site was taken into the database`) || strings.Contains(s.log.String(), "Password") {
		t.Errorf("it says\n%s", s.log)
	}
	if _, err := os.Stat(filepath.Join(in.data, "sites", "shop", "site_config.json")); err == nil {
		t.Error("the file looks as if it counted")
	}
	// Another machine, with nothing.
	other := (&installation{t: t, data: t.TempDir(), database: in.database, env: in.env}).serve()
	if status := other.on("shop.example", jane); status != http.StatusOK {
		t.Errorf("on another machine: %d\n%s", status, other.log)
	}
	s.stop()
	other.stop()

	// A mistake in the default site's file does not make an empty site in its place.
	forget("")
	file := filepath.Join(in.data, "sites", "default", "site_config.json")
	put(t, file, []byte(`{"hosts": `))
	if _, stderr, err := in.try("", "serve", "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(stderr, file) {
		t.Errorf("a configuration that cannot be read: %v\n%s", err, stderr)
	}
	put(t, file, []byte(`{}`))
	mended := in.serve()
	if status := mended.on("any.example", admin); status != http.StatusOK {
		t.Errorf("mended: %d\n%s", status, mended.log)
	}
	mended.stop()

	// Machines that had no folder in common had the default site all the same; one
	// that has its configuration and comes later is heard, until somebody has
	// configured the site.
	forget("")
	bare := &installation{t: t, data: t.TempDir(), database: in.database, env: in.env}
	alone := bare.serve()
	if status := alone.on("any.example", admin); status != http.StatusOK {
		t.Errorf("without any folder: %d\n%s", status, alone.log)
	}
	put(t, file, []byte(`{"app_name": "from before"}`))
	in.run("site", "list")
	if got := bare.run("site", "config", "default", "get", "app_name"); !strings.Contains(got, "from before") {
		t.Errorf("the configuration of the machine that came second: %s", got)
	}
	put(t, file, []byte(`{"app_name": "too late"}`))
	in.run("site", "list")
	if got := bare.run("site", "config", "default", "get", "app_name"); !strings.Contains(got, "from before") {
		t.Errorf("a file that comes later: %s", got)
	}
	alone.stop()

	// One that was dropped on this machine does not come back, nor one that is
	// missed beside others.
	forget("")
	for _, dir := range []string{"default", "shop"} {
		if err := os.RemoveAll(filepath.Join(in.data, "sites", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(in.data, "dropped", "default.2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := in.run("site", "list"); strings.Contains(got, "default") {
		t.Errorf("the default site was dropped here: %s", got)
	}
	forget("")
	if err := os.Mkdir(filepath.Join(in.data, "sites", "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(in.data, "dropped")); err != nil {
		t.Fatal(err)
	}
	if got := in.run("site", "list"); strings.Contains(got, "default") || !strings.Contains(got, "shop") {
		t.Errorf("the default site is none of this machine's: %s", got)
	}
}
