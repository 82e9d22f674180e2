package backup_test

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/file"
)

// Archives are kept beside those of other sites, and of a site whose name begins as
// this one's does; those that the policy does not keep go, and no others.
func TestPlace(t *testing.T) {
	disk, err := file.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	p := backup.Place{Storage: disk, Folder: "default", Site: "default"}
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("of nothing: %v, %v", list, err)
	}
	keep := func(p backup.Place, made time.Time) (backup.Kept, error) {
		path := filepath.Join(t.TempDir(), "archive")
		write(t, path, "an archive")
		return p.Keep(t.Context(), path, made)
	}
	for day := range 3 {
		if _, err := keep(p, made.AddDate(0, 0, day)); err != nil {
			t.Fatal(err)
		}
	}
	other := backup.Place{Storage: disk, Folder: "default", Site: "default-two"}
	if _, err := keep(other, made); err != nil {
		t.Fatal(err)
	}
	if _, err := keep(p, made); err == nil {
		t.Error("an archive took the place of another")
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 3 || !list[0].Made.Equal(made) || list[0].Size != int64(len("an archive")) {
		t.Fatalf("%v, %v", list, err)
	}
	if list[0].Key != "default/"+backup.Name("default", made) {
		t.Errorf("kept as %s", list[0].Key)
	}
	gone, err := p.Prune(t.Context(), backup.Policy{Last: 1})
	if err != nil || len(gone) != 2 {
		t.Errorf("pruned %v, %v", gone, err)
	}
	left, err := p.List(t.Context())
	if err != nil || !slices.Equal(left, list[2:]) {
		t.Errorf("left %v, %v", left, err)
	}
	content, err := disk.Open(t.Context(), left[0].Key, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if text, err := io.ReadAll(content); err != nil || string(text) != "an archive" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := other.List(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("of the other site %v, %v", left, err)
	}
}

// What a site says of its backups counts before what the server says; what makes no
// sense is refused.
func TestSettings(t *testing.T) {
	server := backup.Schedule{Every: 24 * time.Hour, Keep: backup.DefaultPolicy}
	for text, want := range map[string]backup.Schedule{
		``:                        server,
		`null`:                    server,
		`{"every": "90m"}`:        {Every: 90 * time.Minute, Keep: backup.DefaultPolicy},
		`{"every": "never"}`:      {Every: 0, Keep: backup.DefaultPolicy},
		`{"keep": {"daily": 2}}`:  {Every: 24 * time.Hour, Keep: backup.Policy{Daily: 2}},
		`{"folder": "/srv/kept"}`: server,
	} {
		s, err := backup.ParseSettings(json.RawMessage(text))
		if err != nil || s.Over(server) != want {
			t.Errorf("%s: %+v, %v", text, s.Over(server), err)
		}
	}
	for _, text := range []string{
		`[]`, `{"often": true}`, `{"every": "soon"}`, `{"every": "1s"}`, `{"every": 5}`, `{"keep": {}}`, `{"keep": {"daily": -1}}`,
		`{"folder": "/a", "bucket": {}}`,
	} {
		if _, err := backup.ParseSettings(json.RawMessage(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
