package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// developer is a running armature plugin dev.
type developer struct {
	t      *testing.T
	cmd    *exec.Cmd
	tmp    string // its temporary folder
	log    *lockedBuffer
	events chan map[string]any
	done   chan error
	server // where the plugin is called
}

// develop starts plugin dev and reads what it says.
func (in *installation) develop(dir string, args ...string) *developer {
	in.t.Helper()
	d := &developer{
		t: in.t, tmp: in.t.TempDir(), log: &lockedBuffer{}, events: make(chan map[string]any, 1000), done: make(chan error, 1),
		server: server{t: in.t, log: &lockedBuffer{}},
	}
	d.cmd = in.command(append([]string{"plugin", "dev", dir, "--json"}, args...)...)
	d.cmd.Env = append(d.cmd.Env, "TMPDIR="+d.tmp)
	d.cmd.Stderr = d.log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		in.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		in.t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(d.log, lines.Text())
			var event map[string]any
			if json.Unmarshal(lines.Bytes(), &event) == nil {
				d.events <- event
			}
		}
		close(d.events)
		d.done <- d.cmd.Wait()
	}()
	in.t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		err := <-d.done
		d.done <- err
	})
	return d
}

// next waits for an event of a kind, past those of other kinds.
func (d *developer) next(kind string) map[string]any {
	d.t.Helper()
	timeout := time.After(2 * time.Minute) // only ever waited for by a failure
	for {
		select {
		case event, ok := <-d.events:
			if !ok {
				d.t.Fatalf("it ended before %q\n%s", kind, d.log)
			}
			if event["event"] == kind {
				return event
			}
			if event["event"] == "failed" && kind == "serves" {
				d.t.Fatalf("it failed: %v\n%s", event, d.log)
			}
		case <-timeout:
			d.t.Fatalf("no %q\n%s", kind, d.log)
		}
	}
}

// listens waits until the server of its own can be asked.
func (d *developer) listens() {
	d.t.Helper()
	event := d.next("listens")
	d.url, d.auth = event["url"].(string), event["authorization"].(string)
}

// interrupt is Ctrl-C, after which nothing may be left: no process, no file.
func (d *developer) interrupt() {
	d.t.Helper()
	d.end(syscall.SIGINT)
}

func (d *developer) end(by syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(by); err != nil {
		d.t.Fatal(err)
	}
	err := <-d.done
	d.done <- err
	if err != nil {
		d.t.Errorf("after the signal %v: %v\n%s", by, err, d.log)
	}
	if left := processesIn(d.tmp); len(left) > 0 {
		d.t.Errorf("left running: %q", left)
	}
	if left, err := os.ReadDir(d.tmp); err != nil || len(left) > 0 {
		d.t.Errorf("left in the temporary folder: %v %v", left, err)
	}
}

// processesIn are the command lines that mention a folder, where the system shows
// them.
func processesIn(dir string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), dir) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// save writes a file as editors do that put another one in its place.
func save(t *testing.T, path, text string) {
	t.Helper()
	for _, step := range []error{
		os.Rename(path, path+"~"),
		os.WriteFile(path, []byte(text[:len(text)/2]), 0o644),
		os.WriteFile(path, []byte(text), 0o644),
		os.Remove(path + "~"),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
}

// TestDev: in every language a saved change answers, a mistake is told with file
// and line while the version before goes on answering, and an interrupt leaves
// nothing behind.
func TestDev(t *testing.T) {
	for _, tt := range scaffolds {
		t.Run(tt.lang, func(t *testing.T) {
			in := (&installation{t: t}).finding(tt.toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.run("plugin", "new", "acme.fresh", "--lang", tt.lang, "--dir", dir)
			source := filepath.Join(dir, filepath.FromSlash(tt.source))
			read, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			text := string(read)

			d := in.develop(dir, "--listen", "127.0.0.1:0")
			d.listens()
			d.next("serves")
			d.want("POST", "/api/resource/ToDo", map[string]any{"description": "x"})
			answers := func(open float64) {
				t.Helper()
				got := d.want("GET", "/api/method/acme.fresh.hello?name=Zo%C3%AB", nil).(map[string]any)
				if got["hello"] != "Zoë" || got["open"] != open {
					t.Errorf("answers %v, want %v open", got, open)
				}
			}
			answers(1)

			changed := strings.Replace(text, `"Open"`, `"Closed"`, 1)
			if tt.lang == "wat" {
				changed = strings.Replace(text, `\"Open\"`, `\"Shut\"`, 1) // it counts the letters
			}
			began := time.Now()
			save(t, source, changed)
			d.next("serves")
			answers(0)
			t.Logf("%s: %d ms from save to answer", tt.lang, time.Since(began).Milliseconds())

			mistake := ")"
			if tt.lang == "zig" {
				mistake = "(" // of the other it would blame the line before
			}
			save(t, source, changed+"\n"+mistake+"\n")
			failed := d.next("failed")
			line := strings.Count(changed, "\n") + 2
			if failed["serving"] == "" || !regexp.MustCompile(fmt.Sprintf(`%s[:(]%d\b`, regexp.QuoteMeta(tt.source), line)).MatchString(d.log.String()) {
				t.Errorf("line %d is not named: %s", line, d.log)
			}
			answers(0)
			save(t, source, text)
			d.next("serves")
			answers(1)

			// The manifest is watched, too.
			manifest := filepath.Join(dir, "armature.json")
			about, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			save(t, manifest, strings.Replace(string(about), `"resource:ToDo:read"`, `"resource:ToDo:raed"`, 1))
			if failed := d.next("failed"); !regexp.MustCompile(`armature\.json:(1[89]|20):\d+: grants`).MatchString(fmt.Sprint(failed)) {
				t.Errorf("a wrong manifest: %v", failed)
			}
			save(t, manifest, strings.Replace(string(about), "0.1.0", "0.2.0", 1))
			if got := d.next("serves"); got["version"] != "0.2.0" {
				t.Errorf("after the manifest: %v", got)
			}
			answers(1)
			d.interrupt()
		})
	}
}

// TestDevOvertaken: a save calls off the build of the one before, with all its
// processes; several writes are one build; and an interrupt ends a build, as the
// end of the terminal does.
func TestDevOvertaken(t *testing.T) {
	clang(t)
	real, err := exec.LookPath("clang")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "builds")
	script := fmt.Sprintf("#!/bin/sh\nif grep -q SLOW plugin.c; then sleep 600 & echo $$ $! >>%[2]s; wait; fi\necho quick >>%[2]s\nexec %[1]s \"$@\"\n", real, log)
	if err := os.WriteFile(filepath.Join(bin, "clang"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	in := (&installation{t: t}).finding(bin)
	dir := filepath.Join(t.TempDir(), "acme.fresh")
	in.run("plugin", "new", "acme.fresh", "--lang", "c", "--dir", dir)
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
		eventually(t, "the slow build has begun", func() bool { return len(builds()) == n })
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
			eventually(t, "a process has gone", func() bool { return !running(pid) })
		}
	}

	d := in.develop(dir, "--listen", "127.0.0.1:0")
	d.listens()
	d.next("serves")
	save(t, source, "// SLOW\n"+string(text))
	first := sleeping(2)
	save(t, source, strings.Replace(string(text), `AM("Open")`, `AM("Closed")`, 1))
	d.next("serves")
	gone(first)
	if got := builds(); len(got) != 3 || got[2] != "quick" {
		t.Errorf("builds %q", got)
	}
	d.want("POST", "/api/resource/ToDo", map[string]any{"description": "x", "status": "Closed"})
	if got := d.want("GET", "/api/method/acme.fresh.hello?name=Zoe", nil).(map[string]any); got["open"] != 1.0 {
		t.Errorf("the last save does not serve: %v", got)
	}
	save(t, source, "// SLOW again\n"+string(text))
	second := sleeping(4)
	d.interrupt()
	gone(second)

	// Under nohup the tests would hand on that it is ignored.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	d = in.develop(dir, "--listen", "127.0.0.1:0")
	d.listens()
	third := sleeping(5)
	d.end(syscall.SIGHUP) // the terminal's window is closed
	gone(third)

	for i, command := range []string{"build", "test", "conformance"} {
		cmd := in.command("plugin", command, dir)
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

// running reports whether there is a process of this number that has not ended.
func running(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
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
		d := (&installation{t: t, env: env}).develop(script, append(args, "--listen", "127.0.0.1:0")...)
		d.listens()
		d.next("serves")
		if got := d.want("GET", "/api/method/shop.f", nil); got != 1.0 {
			t.Errorf("%v: answers %v", args, got)
		}
		d.interrupt()
		if len(asked) > 0 {
			t.Fatalf("%v: the server elsewhere was asked", args)
		}
	}
	// With its data folder it is that server's data that is meant.
	if _, stderr, err := (&installation{t: t, data: t.TempDir(), env: env}).try("", "plugin", "dev", script); err == nil || len(asked) == 0 {
		t.Errorf("data, database and site of the environment: %v %s", err, stderr)
	}
}

// TestDevRefused: what is no plugin is told at once, and not waited for.
func TestDevRefused(t *testing.T) {
	in := &installation{t: t}
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
		_, stderr, err := in.try("", append([]string{"plugin", "dev"}, tt.args...)...)
		if err == nil || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: %v %s", tt.args, err, stderr)
		}
		if err := os.WriteFile(script, []byte("export function f() { return 1 }"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
