package armaturetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Developer is a running armature plugin dev.
type Developer struct {
	t      *testing.T
	cmd    *exec.Cmd
	tmp    string // its temporary folder
	Log    *Buffer
	events chan map[string]any
	done   chan error
	Server // where the plugin is called
}

// Develop starts plugin dev and reads what it says.
func (in *Installation) Develop(dir string, args ...string) *Developer {
	in.T.Helper()
	d := &Developer{
		t: in.T, tmp: in.T.TempDir(), Log: &Buffer{}, events: make(chan map[string]any, 1000), done: make(chan error, 1),
		Server: Server{T: in.T, Log: &Buffer{}},
	}
	d.cmd = in.Command(append([]string{"plugin", "dev", dir, "--json"}, args...)...)
	d.cmd.Env = append(d.cmd.Env, "TMPDIR="+d.tmp)
	d.cmd.Stderr = d.Log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		in.T.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		in.T.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(d.Log, lines.Text())
			var event map[string]any
			if json.Unmarshal(lines.Bytes(), &event) == nil {
				d.events <- event
			}
		}
		close(d.events)
		d.done <- d.cmd.Wait()
	}()
	in.T.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		err := <-d.done
		d.done <- err
	})
	return d
}

// Next waits for an event of a kind, past those of other kinds.
func (d *Developer) Next(kind string) map[string]any {
	d.t.Helper()
	timeout := time.After(2 * time.Minute) // only ever waited for by a failure
	for {
		select {
		case event, ok := <-d.events:
			if !ok {
				d.t.Fatalf("it ended before %q\n%s", kind, d.Log)
			}
			if event["event"] == kind {
				return event
			}
			if event["event"] == "failed" && kind == "serves" {
				d.t.Fatalf("it failed: %v\n%s", event, d.Log)
			}
		case <-timeout:
			d.t.Fatalf("no %q\n%s", kind, d.Log)
		}
	}
}

// Listens waits until the server of its own can be asked.
func (d *Developer) Listens() {
	d.t.Helper()
	event := d.Next("listens")
	d.URL, d.Auth = event["url"].(string), event["authorization"].(string)
}

// Interrupt is Ctrl-C, after which nothing may be left: no process, no file.
func (d *Developer) Interrupt() {
	d.t.Helper()
	d.End(syscall.SIGINT)
}

func (d *Developer) End(by syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(by); err != nil {
		d.t.Fatal(err)
	}
	err := <-d.done
	d.done <- err
	if err != nil {
		d.t.Errorf("after the signal %v: %v\n%s", by, err, d.Log)
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

// Save writes a file as editors do that put another one in its place.
func Save(t *testing.T, path, text string) {
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

// Running reports whether there is a process of this number that has not ended.
func Running(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}
