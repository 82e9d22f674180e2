package main_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shows reads a line of the server's metrics.
func (s *server) shows(line string) bool {
	s.t.Helper()
	r, err := http.Get(s.url + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Contains(string(text), "\n"+line+"\n")
}

// A server makes archives by schedule, which can be restored; what fails is in the
// metrics, in the log, and said by the doctor.
func TestServerMakesBackups(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		to := t.TempDir()
		if _, stderr, err := in.try("", "serve", "--backup-to", to); err == nil || !strings.Contains(stderr, "ARMATURE_BACKUP_PASSPHRASE") {
			t.Errorf("without a passphrase: %v %s", err, stderr)
		}
		for _, wrong := range [][]string{{"--backup-keep", "dayly=7"}, {"--backup-every", "1s"}, {"--backup-to", "s3://b?endpoint=x"}} {
			if _, stderr, err := in.try("", append([]string{"serve"}, wrong...)...); err == nil || !strings.Contains(stderr, wrong[0]) {
				t.Errorf("%s: %v %s", wrong, err, stderr)
			}
		}
		in.env = append(in.env, "ARMATURE_BACKUP_PASSPHRASE=open sesame")
		s := in.serve("--backup-to", to)
		const made = `armature_backup_runs_total{result="ok"} 1`
		eventually(t, "there is an archive", func() bool { return s.shows(made) })
		files, err := filepath.Glob(filepath.Join(to, "default", "default-*.armature"))
		if err != nil || len(files) != 1 {
			t.Fatalf("archives %v, %v\n%s", files, err, s.log)
		}
		if d := in.doctor(); !d.Well {
			t.Errorf("the doctor says %+v", d)
		}
		if _, stderr, err := in.with("site", "restore", files[0], "--as", "copy"); err != nil {
			t.Errorf("restore: %s", stderr)
		}
		// A place that is none, for the copy alone, whose own place waits until it is
		// no copy any more.
		file := filepath.Join(t.TempDir(), "file")
		put(t, file, nil)
		in.run("site", "config", "copy", "set", "backup", `{"every": "1m", "folder": "`+file+`"}`)
		in.run("site", "resume", "copy")
		eventually(t, "the failure is counted", func() bool { return s.shows("armature_backup_sites_failing 1") })
		if !strings.Contains(s.log.String(), "a backup failed") {
			t.Errorf("the log says %s", s.log)
		}
		if r, err := http.Get(s.url + "/readyz"); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("a server whose backup failed is not ready: %v", err)
		}
		out, _, err := in.try("", "site", "doctor", "copy")
		if err == nil || !strings.Contains(out, "the last backup failed") {
			t.Errorf("the doctor says %s, %v", out, err)
		}
		s.stop()
		if left, _ := filepath.Glob(filepath.Join(in.data, ".backup-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	})
}
