package tenant

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/migration"
)

var update = flag.Bool("update", false, "write what this tree ships as the golden of the newest migration")

// golden is what binaries of a format ship.
type golden struct {
	Format int64             `json:"format"`
	Parts  map[string]string `json:"parts"`
}

const goldenFile = "../migration/testdata/shipped.json"

// Two binaries of one format must ship the same: where they do not, each installs
// its own whenever it opens a site, and an older one takes back what a newer one
// has brought.
func TestShippedChangesWithANumber(t *testing.T) {
	now := shippedNow(t)
	before, err := readGolden()
	if err != nil {
		t.Fatal(err)
	}
	changed := before.differences(now)
	switch {
	case len(changed) == 0 && before.Format == now.Format:
	case len(changed) > 0 && before.Format == now.Format:
		for _, what := range changed {
			t.Error(what)
		}
		t.Errorf("What sites are given has changed and the format of their data is still %d. Add migration %d to\n"+
			"core/migration/numbered.go (Reader as in the line before, unless older binaries cannot use such a site), then run\n"+
			"  go test ./core/tenant -run TestShipped -update\n"+
			"and commit both with the change. core/migration/README.md says more.", now.Format, now.Format+1)
	case now.Format < before.Format:
		t.Errorf("migration %d is missing from core/migration/numbered.go", before.Format)
	case *update:
		writeGolden(t, now)
	default:
		t.Errorf("migration %d is new: run go test ./core/tenant -run TestShipped -update, and commit core/migration/testdata/shipped.json", now.Format)
	}
}

// The numbers of migrations go up by one, and a reader never goes down: a site that
// older binaries may not use does not become one that they may.
func TestNumberedMigrations(t *testing.T) {
	before := migration.Migration{Number: 2}
	for _, m := range migration.Numbered() {
		if m.Number != before.Number+1 {
			t.Errorf("migration %d follows %d", m.Number, before.Number)
		}
		if m.Reader < before.Reader || m.Reader > m.Number {
			t.Errorf("the reader of migration %d is %d, and was %d", m.Number, m.Reader, before.Reader)
		}
		if m.Title == "" {
			t.Errorf("migration %d has no title", m.Number)
		}
		before = m
	}
}

func TestGoldenTellsWhatDiffers(t *testing.T) {
	before := golden{Parts: map[string]string{"same": "1", "changed": "1", "gone": "1"}}
	got := before.differences(golden{Parts: map[string]string{"same": "1", "changed": "2", "new": "1"}})
	want := []string{"changed is another", "gone is not shipped any more", "new is new"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

// differences says in the order of their names which parts are not as they were.
func (g golden) differences(now golden) (list []string) {
	both := maps.Clone(g.Parts)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, now.Parts)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		was, had := g.Parts[name]
		is, has := now.Parts[name]
		switch {
		case !had:
			list = append(list, name+" is new")
		case !has:
			list = append(list, name+" is not shipped any more")
		case was != is:
			list = append(list, name+" is another")
		}
	}
	return list
}

func shippedNow(t *testing.T) golden {
	t.Helper()
	beside := append([]*doctype.DocType{}, privateTables()...)
	parts, err := (&doctypes.Shipped{Beside: append(beside, migration.Tables()...)}).Parts()
	if err != nil {
		t.Fatal(err)
	}
	return golden{Format: migration.Plan{Migrations: migration.Numbered()}.Format(), Parts: parts}
}

func readGolden() (g golden, err error) {
	text, err := os.ReadFile(goldenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	return g, err
}

func writeGolden(t *testing.T, g golden) {
	t.Helper()
	text, err := json.MarshalIndent(g, "", " ")
	if err == nil {
		err = os.WriteFile(goldenFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
