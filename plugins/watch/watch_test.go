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

// loads is what several folders report of what their loaders are told. A file that
// begins with "bad" is refused.
type loads chan string

// named is the loader of one folder.
type named struct {
	loads
	name string
}

func (l named) Load(_ context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil { // a directory
		text, err = os.ReadFile(filepath.Join(path, "armature.json"))
	}
	l.loads <- fmt.Sprintf("%s: load %s %s", l.name, filepath.Base(path), text)
	if strings.HasPrefix(string(text), "bad") {
		err = errors.New("refused")
	}
	return err
}

func (l named) Unload(path string) {
	l.loads <- fmt.Sprintf("%s: unload %s", l.name, filepath.Base(path))
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
		case <-time.After(2 * time.Minute): // only ever waited for by a failure
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

func start(t *testing.T, d dir, l loads, rescan time.Duration) *watch.Watcher {
	t.Helper()
	w, err := watch.New(watch.Config{Settle: time.Millisecond, Rescan: rescan})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	follow(t, w, named{l, "one"}, d)
	return w
}

func follow(t *testing.T, w *watch.Watcher, l watch.Loader, d dir) *watch.Folder {
	t.Helper()
	f, err := w.Follow(t.Context(), l, d.path)
	if err != nil {
		t.Fatal(err)
	}
	return f
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
	w := start(t, d, l, time.Hour)
	w.Close()
	d.put("a.wasm", "1")
	if len(l) > 0 {
		t.Errorf("after Close: %s", <-l)
	}
}

// TestManyFolders: one watcher follows any number of folders, each with plugins
// of its own, and leaves one alone once it is told to.
func TestManyFolders(t *testing.T) {
	one, two, l := dir{t, t.TempDir()}, dir{t, t.TempDir()}, make(loads, 10)
	one.put("a.wasm", "1")
	w := start(t, one, l, time.Hour)
	l.wants(t, "one: load a.wasm 1")
	two.put("a.wasm", "2")
	second := follow(t, w, named{l, "two"}, two)
	l.wants(t, "two: load a.wasm 2")
	two.put("b.wasm", "3")
	l.wants(t, "two: load b.wasm 3")
	second.Close()
	two.put("c.wasm", "4")
	one.put("b.wasm", "5")
	l.wants(t, "one: load b.wasm 5")
	follow(t, w, named{l, "two"}, two) // from the beginning
	l.wants(t, "two: load a.wasm 2", "two: load b.wasm 3", "two: load c.wasm 4")
}

// slow is a Loader whose loads take until they are let go.
type slow struct {
	named
	gate chan struct{}
}

func (s slow) Load(ctx context.Context, path string) error {
	<-s.gate
	return s.named.Load(ctx, path)
}

// TestSlowLoad: a plugin that takes long to compile keeps no other folder
// waiting.
func TestSlowLoad(t *testing.T) {
	one, two, l := dir{t, t.TempDir()}, dir{t, t.TempDir()}, make(loads, 10)
	gate := make(chan struct{})
	w, err := watch.New(watch.Config{Settle: time.Millisecond, Rescan: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	follow(t, w, slow{named{l, "slow"}, gate}, one)
	follow(t, w, named{l, "quick"}, two)
	one.put("a.wasm", "1")
	two.put("b.wasm", "2")
	l.wants(t, "quick: load b.wasm 2")
	close(gate)
	l.wants(t, "slow: load a.wasm 1")
}

// TestTell: whoever keeps something else in a folder hears of it, too.
func TestTell(t *testing.T) {
	d, l := dir{t, t.TempDir()}, make(loads, 10)
	w := start(t, dir{t, t.TempDir()}, l, time.Hour)
	told := make(chan struct{}, 100)
	w.Tell(d.path, func() { told <- struct{}{} })
	if err := os.Mkdir(filepath.Join(d.path, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	<-told
}
