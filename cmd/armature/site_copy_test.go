package main_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A copy that comes out of an archive sends nothing: no letter, and no request of a
// plugin. Resumed, it does.
func TestCopySendsNothing(t *testing.T) {
	service := newRatesService(t)
	in := &installation{t: t, data: t.TempDir()}
	w := in.walk("RATES=" + service.host())
	w.follow("currency", "Install")
	letters, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer letters.Close()
	_, port, _ := net.SplitHostPort(letters.Addr().String())
	in.run("site", "config", "default", "set", "mail", `{"host": "127.0.0.1", "port": `+port+`, "tls": "none", "from": "site@example.org"}`)
	in.run("site", "config", "default", "set", "host_name", `"https://site.example"`)
	archive := filepath.Join(t.TempDir(), "site.armature")
	if _, stderr, err := in.with("site", "backup", "default", archive); err != nil {
		t.Fatal(stderr)
	}

	there := &installation{t: t, data: t.TempDir()}
	if _, stderr, err := there.with("site", "restore", archive); err != nil || !strings.Contains(stderr, "site resume default") {
		t.Fatalf("%v: %s", err, stderr)
	}
	s := there.serve()
	s.auth = there.keys("Administrator")
	convert := func() (int, map[string]any) {
		return s.call("POST", "/api/method/acme.currency.convert", map[string]any{"amount": 1, "from": "EUR", "to": "USD"})
	}
	asked := service.asked.Load()
	if status, answer := convert(); status != http.StatusServiceUnavailable || service.asked.Load() != asked {
		t.Errorf("a plugin of a copy asks: %d %v", status, answer)
	}
	s.want("POST", "/api/resource/User", map[string]any{"email": "jane@example.org", "first_name": "Jane", "new_password": "a long enough pass phrase"})
	forgotten := func() {
		t.Helper()
		s.callAs("", "POST", "/api/method/framework.core.doctype.user.user.reset_password", map[string]any{"user": "jane@example.org"})
	}
	forgotten()
	eventually(t, "the log tells of the letter that was not sent", func() bool {
		return strings.Contains(s.log.String(), "not sent") && strings.Contains(s.log.String(), "OutgoingPausedError")
	})
	if d := there.doctor(); d.says("outgoing", "restored from an archive of site default") != 1 {
		t.Errorf("the doctor says %+v", d)
	}
	there.run("site", "resume", "default")
	eventually(t, "the log tells that the site sends again", func() bool { return strings.Contains(s.log.String(), "is sent again") })
	s.stop()
	s = there.serve() // after a failure the plugin leaves the service alone for a while
	s.auth = there.keys("Administrator")
	if status, answer := convert(); status != http.StatusOK {
		t.Errorf("a plugin of a resumed site: %d %v", status, answer)
	}
	sent := make(chan error, 1)
	go func() {
		c, err := letters.Accept()
		if err == nil {
			err = c.Close()
		}
		sent <- err
	}()
	forgotten()
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// What is wrong with an archive is said before anybody is asked for its passphrase.
func TestRestoreAsksLast(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	in.run("site", "new", "default")
	file := filepath.Join(t.TempDir(), "site.armature")
	if _, stderr, err := in.with("site", "backup", "default", file); err != nil {
		t.Fatal(stderr)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(whole), `"data_reader": 4`, `"data_reader": 9`, 1)
	changed := []byte(string(whole))
	changed[len(changed)/2] ^= 1
	const asked = "the passphrase is empty"
	for name, tt := range map[string]struct{ text, says string }{
		"cut":      {string(whole[:len(whole)-5000]), "is cut"},
		"changed":  {string(changed), "SHA-256"},
		"newer":    {newer, "can be used by programs of format 9"},
		"no":       {"hello", "no archive"},
		"a taken ": {string(whole), "--replace"},
	} {
		path := filepath.Join(t.TempDir(), "it.armature")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, err := in.try("", "site", "restore", path); err == nil || !strings.Contains(stderr, tt.says) || strings.Contains(stderr, asked) {
			t.Errorf("%s: %v, %s", name, err, stderr)
		}
	}
	if _, stderr, err := in.try("", "site", "restore", file, "--as", "other"); err == nil || !strings.Contains(stderr, asked) {
		t.Errorf("a whole one without a passphrase: %v, %s", err, stderr)
	}
	if _, stderr, err := in.try("another\n", "site", "restore", file, "--as", "other"); err == nil || !strings.Contains(stderr, "not the one of this archive") {
		t.Errorf("with another passphrase: %v, %s", err, stderr)
	}
	out, stderr, err := in.with("site", "restore", file, "--check")
	if err != nil || !strings.Contains(out, "can be restored") || strings.Contains(stderr, "\r") {
		t.Errorf("a trial: %v, %s %q", err, out, stderr)
	}
	if list := in.run("site", "list"); strings.Contains(list, "other") {
		t.Errorf("something was made: %s", list)
	}
	if left, _ := filepath.Glob(filepath.Join(in.data, ".backup-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
