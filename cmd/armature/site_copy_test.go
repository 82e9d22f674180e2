package main_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// A copy that comes out of an archive sends nothing: no letter, and no request of a
// plugin. Resumed, it does.
func TestCopySendsNothing(t *testing.T) {
	service := newRatesService(t)
	in := armaturetest.New(t)
	w := in.Walk("RATES=" + service.host())
	w.Follow("currency", "Install")
	letters, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer letters.Close()
	_, port, _ := net.SplitHostPort(letters.Addr().String())
	in.Run("site", "config", "default", "set", "mail", `{"host": "127.0.0.1", "port": `+port+`, "tls": "none", "from": "site@example.org"}`)
	in.Run("site", "config", "default", "set", "host_name", `"https://site.example"`)
	archive := filepath.Join(t.TempDir(), "site.armature")
	if _, stderr, err := with(in, "site", "backup", "default", archive); err != nil {
		t.Fatal(stderr)
	}

	there := armaturetest.New(t)
	if _, stderr, err := with(there, "site", "restore", archive); err != nil || !strings.Contains(stderr, "site resume default") {
		t.Fatalf("%v: %s", err, stderr)
	}
	s := there.Serve()
	s.Auth = there.Keys("Administrator")
	convert := func() (int, map[string]any) {
		return s.Call("POST", "/api/method/acme.currency.convert", map[string]any{"amount": 1, "from": "EUR", "to": "USD"})
	}
	asked := service.asked.Load()
	if status, answer := convert(); status != http.StatusServiceUnavailable || service.asked.Load() != asked {
		t.Errorf("a plugin of a copy asks: %d %v", status, answer)
	}
	s.Want("POST", "/api/resource/User", map[string]any{"email": "jane@example.org", "first_name": "Jane", "new_password": "a long enough pass phrase"})
	forgotten := func() {
		t.Helper()
		s.CallAs("", "POST", "/api/method/framework.core.doctype.user.user.reset_password", map[string]any{"user": "jane@example.org"})
	}
	forgotten()
	armaturetest.Eventually(t, "the log tells of the letter that was not sent", func() bool {
		return strings.Contains(s.Log.String(), "not sent") && strings.Contains(s.Log.String(), "OutgoingPausedError")
	})
	if d := doctor(there); d.says("outgoing", "restored from an archive of site default") != 1 {
		t.Errorf("the doctor says %+v", d)
	}
	there.Run("site", "resume", "default")
	armaturetest.Eventually(t, "the log tells that the site sends again", func() bool { return strings.Contains(s.Log.String(), "is sent again") })
	s.Stop()
	s = there.Serve() // after a failure the plugin leaves the service alone for a while
	s.Auth = there.Keys("Administrator")
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
	in := armaturetest.New(t)
	in.Run("site", "new", "default")
	file := filepath.Join(t.TempDir(), "site.armature")
	if _, stderr, err := with(in, "site", "backup", "default", file); err != nil {
		t.Fatal(stderr)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(whole), `"data_reader": 4`, `"data_reader":99`, 1) // as many bytes
	changed := []byte(string(whole))
	changed[len(changed)/2] ^= 1
	const asked = "the passphrase is empty"
	for name, tt := range map[string]struct{ text, says string }{
		"cut":      {string(whole[:len(whole)-5000]), "is cut"},
		"changed":  {string(changed), "SHA-256"},
		"newer":    {newer, "can be used by programs of format 99"},
		"no":       {"hello", "no archive"},
		"a taken ": {string(whole), "--replace"},
	} {
		path := filepath.Join(t.TempDir(), "it.armature")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, err := in.Try("", "site", "restore", path); err == nil || !strings.Contains(stderr, tt.says) || strings.Contains(stderr, asked) {
			t.Errorf("%s: %v, %s", name, err, stderr)
		}
	}
	if _, stderr, err := in.Try("", "site", "restore", file, "--as", "other"); err == nil || !strings.Contains(stderr, asked) {
		t.Errorf("a whole one without a passphrase: %v, %s", err, stderr)
	}
	if _, stderr, err := in.Try("another\n", "site", "restore", file, "--as", "other"); err == nil || !strings.Contains(stderr, "not the one of this archive") {
		t.Errorf("with another passphrase: %v, %s", err, stderr)
	}
	out, stderr, err := with(in, "site", "restore", file, "--check")
	if err != nil || !strings.Contains(out, "can be restored") || strings.Contains(stderr, "\r") {
		t.Errorf("a trial: %v, %s %q", err, out, stderr)
	}
	if list := in.Run("site", "list"); strings.Contains(list, "other") {
		t.Errorf("something was made: %s", list)
	}
	if left, _ := filepath.Glob(filepath.Join(in.Data, ".backup-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
