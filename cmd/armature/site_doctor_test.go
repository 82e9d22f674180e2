package main_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// diagnosis is what site doctor prints.
type diagnosis struct {
	Well     bool `json:"well"`
	Findings []struct {
		Check    string `json:"check"`
		Subject  string `json:"subject"`
		Message  string `json:"message"`
		Repaired bool   `json:"repaired"`
	} `json:"findings"`
}

// doctor examines the default site.
func doctor(in *armaturetest.Installation, flags ...string) (d diagnosis) {
	in.T.Helper()
	out, stderr, err := in.Try("", append([]string{"site", "doctor", "default", "--json"}, flags...)...)
	if jerr := json.Unmarshal([]byte(out), &d); jerr != nil {
		in.T.Fatalf("%v: %s%s", jerr, out, stderr)
	}
	if d.Well != (err == nil) {
		in.T.Errorf("well is %v, and the command ended with %v", d.Well, err)
	}
	return d
}

// says counts what a check has found with a text in it.
func (d diagnosis) says(check, text string) (n int) {
	for _, f := range d.Findings {
		if f.Check == check && strings.Contains(f.Subject+": "+f.Message, text) {
			n++
		}
	}
	return n
}

// A new site is well, on every database.
func TestSiteDoctorOfAHealthySite(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Serve().Stop()
		if d := doctor(in); !d.Well || len(d.Findings) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

// Each thing that can be wrong is found, and what is safe is mended.
func TestSiteDoctor(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Env: []string{"ARMATURE_SECRET_KEY=" + fmt.Sprintf("%064d", 1)}}
	f := &format{Number: 1}
	f.unpack(t, in)
	s := in.Serve()
	s.Auth = f.Authorization
	s.Stop()
	before := doctor(in)
	if before.says("names", "Connected App") != 1 || before.says("names", "Webhook") != 1 || len(before.Findings) != 2 {
		t.Errorf("at first: %+v", before)
	}
	db, err := sql.Open("sqlite", filepath.Join(in.Data, "sites", "default", "site.db"))
	if err != nil {
		t.Fatal(err)
	}
	var index string
	if err := db.QueryRow("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'd_todo' AND sql IS NOT NULL").Scan(&index); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		fmt.Sprintf("DROP INDEX %q", index),
		"UPDATE d_book SET code = 'sealed:nonsense' WHERE name = 'Book 3'",
		"DELETE FROM d_book WHERE name = 'Book 4'",
		"INSERT INTO d_todo (name, allocated_to) VALUES ('lost', 'nobody@example.org')",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(in.Data, "sites", "default", "files", "blob", "*", "*"))
	if err != nil || len(blobs) < 2 {
		t.Fatalf("files %v, %v", blobs, err)
	}
	trash := filepath.Join(in.Data, "sites", "default", "files", "trash")
	if err := os.Mkdir(trash, 0o700); err != nil {
		t.Fatal(err)
	}
	key := strings.ReplaceAll(blobs[0][len(filepath.Join(in.Data, "sites", "default", "files", "blob"))+1:], "/", ".")
	if err := os.Rename(blobs[0], filepath.Join(trash, "20260101t000000z."+key)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(blobs[1]); err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{"tables": index, "secrets": "Book 3", "rows": "Book 4", "links": "nobody@example.org", "files": "missing"}
	d := doctor(in)
	for check, text := range wants {
		if d.says(check, text) != 1 {
			t.Errorf("%s does not say %q: %+v", check, text, d.Findings)
		}
	}
	if d.says("files", "in the trash") != 1 {
		t.Errorf("%+v", d.Findings)
	}
	doctor(in, "--repair")
	after := doctor(in)
	if after.says("tables", "") != 0 || after.says("files", "in the trash") != 0 {
		t.Errorf("after the repair: %+v", after.Findings)
	}
	if after.says("secrets", "Book 3") != 1 || after.says("rows", "Book 4") != 1 {
		t.Errorf("what cannot be mended is not said any more: %+v", after.Findings)
	}
	if _, err := os.Stat(blobs[0]); err != nil {
		t.Error(err)
	}
}
