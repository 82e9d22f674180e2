package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// old makes an installation with sites of format 1, which differ by their names
// alone.
func old(in *armaturetest.Installation, sites int) *format {
	in.T.Helper()
	f := &format{Number: 1}
	f.unpack(in.T, in)
	from := filepath.Join(in.Data, "sites", "default")
	for n := range sites - 1 {
		to := filepath.Join(in.Data, "sites", fmt.Sprintf("site-%02d", n))
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			in.T.Fatal(err)
		}
	}
	return f
}

// migratedSite is what site migrate prints of one.
type migratedSite struct {
	Name  string `json:"name"`
	From  int64  `json:"from_format"`
	To    int64  `json:"to_format"`
	Error string `json:"error"`
}

func migrate(in *armaturetest.Installation, args ...string) (list []migratedSite, err error) {
	in.T.Helper()
	out, stderr, err := in.Try("", append([]string{"site", "migrate", "--json"}, args...)...)
	if jerr := json.Unmarshal([]byte(out), &list); jerr != nil {
		in.T.Fatalf("%v: %s%s", jerr, out, stderr)
	}
	return list, err
}

// All sites are brought to the format of this version, also by a process that comes
// after many that were killed, and each of them is whole afterwards. One that cannot
// be keeps none of the others from it.
func TestMigrateAll(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Env: []string{"ARMATURE_SECRET_KEY=" + fmt.Sprintf("%064d", 1)}}
	const sites = 6
	f := old(in, sites)
	for _, wait := range []time.Duration{30, 150, 400} { // what it waits for next is the lease of who was killed
		cmd := in.Command("site", "migrate", "--all")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait * time.Millisecond) // anywhere in the middle will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if list, err := migrate(in, "--all"); err != nil {
		t.Fatalf("%v, %+v", err, list)
	}
	list, err := migrate(in, "--all")
	if err != nil || len(list) != sites {
		t.Fatalf("%v, %+v", err, list)
	}
	for _, m := range list {
		if m.From != m.To || m.To < 7 || m.Error != "" {
			t.Errorf("afterwards: %+v", m)
		}
		in.Run("site", "config", m.Name, "set", "hosts", fmt.Sprintf(`["%s.example"]`, m.Name))
	}
	s := in.Serve()
	s.Auth = f.Authorization
	for _, m := range list {
		if status := s.On(m.Name+".example", f.Authorization); status != 200 {
			t.Errorf("%s answers %d", m.Name, status)
		}
	}
	in.Run("site", "config", "default", "set", "hosts", "null")
	armaturetest.Eventually(t, "the default site answers every host", func() bool { return s.On("any.example", f.Authorization) == 200 })
	for path, then := range f.Answers {
		for _, d := range same(path, then, s.Want("GET", "/api"+path, nil)) {
			t.Error(d)
		}
	}
	s.Stop()
	if d := doctor(in); d.says("tables", "") != 0 || d.says("versions", "") != 0 || d.says("secrets", "") != 0 || d.says("links", "") != 0 {
		t.Errorf("the doctor says %+v", d)
	}
}

// Progress is a line for each site, and what fails is told with its reason.
func TestMigrateTellsOfFailures(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Env: []string{"ARMATURE_SECRET_KEY=" + fmt.Sprintf("%064d", 1)}}
	old(in, 3)
	broken := filepath.Join(in.Data, "sites", "site-00", "site.db")
	if err := os.WriteFile(broken, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("rm", "-f", broken+"-wal", broken+"-shm").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, stderr, err := in.Try("", "site", "migrate", "--all")
	if err == nil || !strings.Contains(stderr, "1 of 3 sites") {
		t.Errorf("%v, %s", err, stderr)
	}
	for n, says := range []string{"[1/3] default: brought to format", "[2/3] site-00: ", "[3/3] site-01: brought to format"} {
		if lines := strings.Split(out, "\n"); len(lines) < 3 || !strings.Contains(out, says) {
			t.Errorf("line %d does not say %q: %s", n+1, says, out)
		}
	}
	list, err := migrate(in, "--all")
	if err == nil || len(list) != 3 || list[1].Error == "" || list[0].Error != "" || list[2].From != list[2].To {
		t.Errorf("again: %v, %+v", err, list)
	}
	if _, _, err := in.Try("", "site", "migrate"); err == nil {
		t.Error("neither a name nor --all")
	}
}
