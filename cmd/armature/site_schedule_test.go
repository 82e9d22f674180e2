package main_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// shows reads a line of the server's metrics.
func shows(s *armaturetest.Server, line string) bool {
	s.T.Helper()
	r, err := http.Get(s.URL + "/metrics")
	if err != nil {
		s.T.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.Contains(string(text), "\n"+line+"\n")
}

// A server makes archives by schedule, which can be restored; what fails is in the
// metrics, in the log, and said by the doctor.
func TestServerMakesBackups(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		to := t.TempDir()
		if _, stderr, err := in.Try("", "serve", "--backup-to", to); err == nil || !strings.Contains(stderr, "ARMATURE_BACKUP_PASSPHRASE") {
			t.Errorf("without a passphrase: %v %s", err, stderr)
		}
		for _, wrong := range [][]string{{"--backup-keep", "dayly=7"}, {"--backup-every", "1s"}, {"--backup-to", "s3://b?endpoint=x"}} {
			if _, stderr, err := in.Try("", append([]string{"serve"}, wrong...)...); err == nil || !strings.Contains(stderr, wrong[0]) {
				t.Errorf("%s: %v %s", wrong, err, stderr)
			}
		}
		in.Env = append(in.Env, "ARMATURE_BACKUP_PASSPHRASE=open sesame")
		s := in.Serve("--backup-to", to)
		const made = `armature_backup_runs_total{result="ok"} 1`
		armaturetest.Eventually(t, "there is an archive", func() bool { return shows(s, made) })
		files, err := filepath.Glob(filepath.Join(to, "default", "default-*.armature"))
		if err != nil || len(files) != 1 {
			t.Fatalf("archives %v, %v\n%s", files, err, s.Log)
		}
		if d := doctor(in); !d.Well {
			t.Errorf("the doctor says %+v", d)
		}
		s.Stop() // or it might find the copy as it is restored, make an archive of it, and the next a minute later
		if _, stderr, err := with(in, "site", "restore", files[0], "--as", "copy"); err != nil {
			t.Errorf("restore: %s", stderr)
		}
		// A place that is none, for the copy alone, whose own place waits until it is
		// no copy any more.
		file := filepath.Join(t.TempDir(), "file")
		armaturetest.Put(t, file, nil)
		in.Run("site", "config", "copy", "set", "backup", `{"every": "1m", "folder": "`+file+`"}`)
		in.Run("site", "resume", "copy")
		s = in.Serve("--backup-to", to)
		armaturetest.Eventually(t, "the failure is counted", func() bool { return shows(s, "armature_backup_sites_failing 1") })
		if !strings.Contains(s.Log.String(), "a backup failed") {
			t.Errorf("the log says %s", s.Log)
		}
		if r, err := http.Get(s.URL + "/readyz"); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("a server whose backup failed is not ready: %v", err)
		}
		out, _, err := in.Try("", "site", "doctor", "copy")
		if err == nil || !strings.Contains(out, "the last backup failed") {
			t.Errorf("the doctor says %s, %v", out, err)
		}
		s.Stop()
		if left, _ := filepath.Glob(filepath.Join(in.Data, ".backup-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	})
}
