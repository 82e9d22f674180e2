package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/plugins/watch"
)

// loads is a Loader that reports what it is told. A file that begins with "bad"
// is refused.
type loads chan string

func (l loads) Load(_ context.Context, scope, path string) error {
	text, err := os.ReadFile(path)
	if err != nil { // a directory
		text, err = os.ReadFile(filepath.Join(path, "armature.json"))
	}
	l <- fmt.Sprintf("%s: load %s %s", scope, filepath.Base(path), text)
	if strings.HasPrefix(string(text), "bad") {
		err = errors.New("refused")
	}
	return err
}

func (l loads) Unload(scope, path string) {
	l <- fmt.Sprintf("%s: unload %s", scope, filepath.Base(path))
}

// wants waits for exactly these reports.
func (l loads) wants(t *testing.T, wants ...string) {
	t.Helper()
	for _, want := range wants {
		select {
		case got := <-l:
			if got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		case <-time.After(30 * time.Second): // only ever waited for by a failure
			t.Fatalf("nothing happened, want %q", want)
		}
	}
}

type dir struct {
	t    *testing.T
	path string
}

// put writes a file at once: what half a file does is folder_test's subject.
func (d dir) put(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.path, ".put"), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.move(".put", name)
}

func (d dir) move(from, to string) {
	d.t.Helper()
	if err := os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to)); err != nil {
		d.t.Fatal(err)
	}
}

func (d dir) remove(name string) {
	d.t.Helper()
	if err := os.RemoveAll(filepath.Join(d.path, name)); err != nil {
		d.t.Fatal(err)
	}
}

func start(t *testing.T, d dir, l loads, rescan time.Duration) {
	t.Helper()
	w, err := watch.Start(t.Context(), watch.Config{
		Dir: d.path, Scope: "one", Loader: l, Settle: time.Millisecond, Rescan: rescan,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
}

func TestPutReplaceRemove(t *testing.T) {
	d, l := dir{t, filepath.Join(t.TempDir(), "plugins")}, make(loads, 10)
	d.put("a.wasm", "1")
	d.put("notes.txt", "not a plugin")
	start(t, d, l, time.Hour)
	l.wants(t, "one: load a.wasm 1")

	d.put(".b.wasm.tmp", "2") // as tools write that rename at the end
	d.move(".b.wasm.tmp", "b.wasm")
	l.wants(t, "one: load b.wasm 2")

	d.put(".tmp", "3")
	d.move(".tmp", "a.wasm")
	l.wants(t, "one: load a.wasm 3")

	d.remove("a.wasm")
	l.wants(t, "one: unload a.wasm")

	d.move("b.wasm", "c.wasm")
	l.wants(t, "one: unload b.wasm", "one: load c.wasm 2")

	d.put("d/readme", "a directory that is not a plugin yet")
	d.put("d/d.wasm", "4")
	d.put("d/armature.json", "5")
	l.wants(t, "one: load d 5")
	d.remove("d")
	l.wants(t, "one: unload d")
}

// TestSameTimeAndSize: another build may look the same from outside.
func TestSameTimeAndSize(t *testing.T) {
	d, l := dir{t, t.TempDir()}, make(loads, 10)
	old := time.Unix(1, 0)
	put := func(text string) {
		d.put(".tmp", text)
		if err := os.Chtimes(filepath.Join(d.path, ".tmp"), old, old); err != nil {
			t.Fatal(err)
		}
		d.move(".tmp", "a.wasm")
	}
	put("1")
	start(t, d, l, time.Hour)
	l.wants(t, "one: load a.wasm 1")
	put("2")
	l.wants(t, "one: load a.wasm 2")
}

func TestMissingFolder(t *testing.T) {
	d, l := dir{t, filepath.Join(t.TempDir(), "not", "there")}, make(loads, 10)
	start(t, d, l, time.Hour)
	d.put("a.wasm", "1")
	l.wants(t, "one: load a.wasm 1")
}

// TestRescan: without any notice the folder is looked at all the same.
func TestRescan(t *testing.T) {
	d, l := dir{t, t.TempDir()}, make(loads, 10)
	d.put("a.wasm", "1")
	start(t, d, l, time.Millisecond)
	l.wants(t, "one: load a.wasm 1")
	// The folder itself is replaced: notices are about the old one.
	if err := os.Rename(d.path, d.path+".old"); err != nil {
		t.Fatal(err)
	}
	l.wants(t, "one: unload a.wasm")
	d.put("b.wasm", "2")
	l.wants(t, "one: load b.wasm 2")
}

func TestClose(t *testing.T) {
	d, l := dir{t, t.TempDir()}, make(loads, 10)
	w, err := watch.Start(t.Context(), watch.Config{Dir: d.path, Loader: l, Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	d.put("a.wasm", "1")
	if len(l) > 0 {
		t.Errorf("after Close: %s", <-l)
	}
}
