package plugindev_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// TestDev: in every language a saved change answers, a mistake is told with file
// and line while the version before goes on answering, and an interrupt leaves
// nothing behind.
func TestDev(t *testing.T) {
	for _, tt := range armaturetest.Scaffolds {
		t.Run(tt.Lang, func(t *testing.T) {
			t.Parallel()
			in := (&armaturetest.Installation{T: t}).Finding(tt.Toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.Run("plugin", "new", "acme.fresh", "--lang", tt.Lang, "--dir", dir)
			source := filepath.Join(dir, filepath.FromSlash(tt.Source))
			read, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			text := string(read)

			d := in.Develop(dir, "--listen", "127.0.0.1:0")
			d.Listens()
			d.Next("serves")
			d.Want("POST", "/api/resource/ToDo", map[string]any{"description": "x"})
			answers := func(open float64) {
				t.Helper()
				got := d.Want("GET", "/api/method/acme.fresh.hello?name=Zo%C3%AB", nil).(map[string]any)
				if got["hello"] != "Zoë" || got["open"] != open {
					t.Errorf("answers %v, want %v open", got, open)
				}
			}
			answers(1)

			changed := strings.Replace(text, `"Open"`, `"Closed"`, 1)
			if tt.Lang == "wat" {
				changed = strings.Replace(text, `\"Open\"`, `\"Shut\"`, 1) // it counts the letters
			}
			began := time.Now()
			armaturetest.Save(t, source, changed)
			d.Next("serves")
			answers(0)
			t.Logf("%s: %d ms from save to answer", tt.Lang, time.Since(began).Milliseconds())

			mistake := ")"
			if tt.Lang == "zig" {
				mistake = "(" // of the other it would blame the line before
			}
			armaturetest.Save(t, source, changed+"\n"+mistake+"\n")
			failed := d.Next("failed")
			line := strings.Count(changed, "\n") + 2
			if failed["serving"] == "" || !regexp.MustCompile(fmt.Sprintf(`%s[:(]%d\b`, regexp.QuoteMeta(tt.Source), line)).MatchString(d.Log.String()) {
				t.Errorf("line %d is not named: %s", line, d.Log)
			}
			answers(0)
			armaturetest.Save(t, source, text)
			d.Next("serves")
			answers(1)

			// The manifest is watched, too.
			manifest := filepath.Join(dir, "armature.json")
			about, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			armaturetest.Save(t, manifest, strings.Replace(string(about), `"resource:ToDo:read"`, `"resource:ToDo:raed"`, 1))
			if failed := d.Next("failed"); !regexp.MustCompile(`armature\.json:(1[89]|20):\d+: grants`).MatchString(fmt.Sprint(failed)) {
				t.Errorf("a wrong manifest: %v", failed)
			}
			armaturetest.Save(t, manifest, strings.Replace(string(about), "0.1.0", "0.2.0", 1))
			if got := d.Next("serves"); got["version"] != "0.2.0" {
				t.Errorf("after the manifest: %v", got)
			}
			answers(1)
			d.Interrupt()
		})
	}
}

// TestDevOvertaken: a save calls off the build of the one before, with all its
// processes; several writes are one build; and an interrupt ends a build, as the
// end of the terminal does.
func TestDevOvertaken(t *testing.T) {
	armaturetest.Clang(t)
	real, err := exec.LookPath("clang")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "builds")
	script := fmt.Sprintf("#!/bin/sh\nif grep -q SLOW plugin.c; then sleep 600 & echo $$ $! >>%[2]s; wait; fi\necho quick >>%[2]s\nexec %[1]s \"$@\"\n", real, log)
	if err := os.WriteFile(filepath.Join(bin, "clang"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	in := (&armaturetest.Installation{T: t}).Finding(bin)
	dir := filepath.Join(t.TempDir(), "acme.fresh")
	in.Run("plugin", "new", "acme.fresh", "--lang", "c", "--dir", dir)
	source := filepath.Join(dir, "plugin.c")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	builds := func() []string {
		all, _ := os.ReadFile(log)
		return strings.Split(strings.TrimSpace(string(all)), "\n")
	}
	// sleeping waits for a build that does not end, and returns its processes.
	sleeping := func(n int) (pids []int) {
		t.Helper()
		armaturetest.Eventually(t, "the slow build has begun", func() bool { return len(builds()) == n })
		for _, field := range strings.Fields(builds()[n-1]) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err != nil {
				t.Fatalf("builds %q", builds())
			}
			pids = append(pids, pid)
		}
		return pids
	}
	gone := func(pids []int) {
		t.Helper()
		for _, pid := range pids {
			armaturetest.Eventually(t, "a process has gone", func() bool { return !armaturetest.Running(pid) })
		}
	}

	d := in.Develop(dir, "--listen", "127.0.0.1:0")
	d.Listens()
	d.Next("serves")
	armaturetest.Save(t, source, "// SLOW\n"+string(text))
	first := sleeping(2)
	armaturetest.Save(t, source, strings.Replace(string(text), `AM("Open")`, `AM("Closed")`, 1))
	d.Next("serves")
	gone(first)
	if got := builds(); len(got) != 3 || got[2] != "quick" {
		t.Errorf("builds %q", got)
	}
	d.Want("POST", "/api/resource/ToDo", map[string]any{"description": "x", "status": "Closed"})
	if got := d.Want("GET", "/api/method/acme.fresh.hello?name=Zoe", nil).(map[string]any); got["open"] != 1.0 {
		t.Errorf("the last save does not serve: %v", got)
	}
	armaturetest.Save(t, source, "// SLOW again\n"+string(text))
	second := sleeping(4)
	d.Interrupt()
	gone(second)

	// Under nohup the tests would hand on that it is ignored.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	d = in.Develop(dir, "--listen", "127.0.0.1:0")
	d.Listens()
	third := sleeping(5)
	d.End(syscall.SIGHUP) // the terminal's window is closed
	gone(third)

	for i, command := range []string{"build", "test", "conformance"} {
		cmd := in.Command("plugin", command, dir)
		tmp := t.TempDir()
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		compiler := sleeping(6 + i)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("plugin %s after a hangup: %v", command, err)
		}
		gone(compiler)
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("plugin %s left %v behind: %v", command, left, err)
		}
	}
}

// TestDevApart: a shell that is set up for a server that people use does not have
// a plugin served there.
func TestDevApart(t *testing.T) {
	asked := make(chan struct{}, 1000)
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	go func() {
		for {
			conn, err := elsewhere.Accept()
			if err != nil {
				return
			}
			asked <- struct{}{}
			_ = conn.Close()
		}
	}()
	address := elsewhere.Addr().String()
	env := []string{"ARMATURE_DATABASE=postgres://someone@" + address + "/real?sslmode=disable", "ARMATURE_REDIS=redis://" + address, "ARMATURE_SITE=shop.example"}
	script := filepath.Join(t.TempDir(), "shop.js")
	if err := os.WriteFile(script, []byte("export function f() { return 1 }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--data", filepath.Join(t.TempDir(), "data")}} {
		d := (&armaturetest.Installation{T: t, Env: env}).Develop(script, append(args, "--listen", "127.0.0.1:0")...)
		d.Listens()
		d.Next("serves")
		if got := d.Want("GET", "/api/method/shop.f", nil); got != 1.0 {
			t.Errorf("%v: answers %v", args, got)
		}
		d.Interrupt()
		if len(asked) > 0 {
			t.Fatalf("%v: the server elsewhere was asked", args)
		}
	}
	// With its data folder it is that server's data that is meant.
	if _, stderr, err := (&armaturetest.Installation{T: t, Data: t.TempDir(), Env: env}).Try("", "plugin", "dev", script); err == nil || len(asked) == 0 {
		t.Errorf("data, database and site of the environment: %v %s", err, stderr)
	}
}

// TestDevRefused: what is no plugin is told at once, and not waited for.
func TestDevRefused(t *testing.T) {
	in := &armaturetest.Installation{T: t}
	empty := t.TempDir()
	script := filepath.Join(empty, "shop.js")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{empty}, "armature plugin new"}, // before there is a script
		{[]string{filepath.Join(empty, "none")}, "no such file"},
		{[]string{script, "--plugins", filepath.Join(empty, "none")}, "there is no such folder"},
		{[]string{script, "--url", "http://127.0.0.1:1"}, "ARMATURE_API_KEY"},
		{[]string{script, "--url", "http://127.0.0.1:1", "--api-key", "a:b", "--plugins", empty}, "either --url or --plugins"},
		{[]string{script, "--database", "postgres://127.0.0.1:1/x"}, "--database needs --data"},
		{[]string{script, "--site", "shop.example"}, "--site needs --data"},
		{[]string{script, "--listen", "256.0.0.1:1"}, "256.0.0.1"},
	} {
		_, stderr, err := in.Try("", append([]string{"plugin", "dev"}, tt.args...)...)
		if err == nil || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: %v %s", tt.args, err, stderr)
		}
		if err := os.WriteFile(script, []byte("export function f() { return 1 }"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDevReloadsPages: pages of the server's frontend load themselves again, without any
// setting.
func TestDevReloadsPages(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: filepath.Join(t.TempDir(), "data")}
	script := filepath.Join(t.TempDir(), "shop.ts")
	armaturetest.Put(t, script, []byte("export function hello() { return 1; }\n"))
	page := filepath.Join(in.Data, "sites", "default", "public", "index.html")
	d := in.Develop(script, "--listen", "127.0.0.1:0", "--data", in.Data)
	d.Listens()
	d.Next("serves")
	if err := os.MkdirAll(filepath.Dir(page), 0o700); err != nil {
		t.Fatal(err)
	}
	armaturetest.Put(t, page, []byte("<p>one</p>"))
	r, err := http.Get(d.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(text), "/_live.js") {
		t.Errorf("%s %q %v", r.Status, text, err)
	}
}
