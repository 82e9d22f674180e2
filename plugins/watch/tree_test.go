package watch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/plugins/watch"
)

func followTree(t *testing.T, dir string, rescan time.Duration) *watch.Tree {
	t.Helper()
	tree, err := watch.FollowTree(dir, watch.TreeConfig{
		Settle: 20 * time.Millisecond, Rescan: rescan,
		Skip: func(name string) bool { return filepath.Ext(name) == ".wasm" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

// tells waits until the tree tells of a change.
func tells(t *testing.T, tree *watch.Tree, what string) {
	t.Helper()
	select {
	case <-tree.Changed():
	case <-time.After(2 * time.Minute): // only ever waited for by a failure
		t.Fatalf("nothing was told of %s", what)
	}
}

// TestTreeSaves: however an editor saves, it is told once, and what changes
// nothing is not told. A save that must be told follows everything that must not,
// so that nothing has to be waited for in vain.
func TestTreeSaves(t *testing.T) {
	d := dir{t, t.TempDir()}
	d.put("src/a.c", "1")
	tree := followTree(t, d.path, time.Hour)
	told := func(what string) {
		t.Helper()
		tells(t, tree, what)
		select {
		case <-tree.Changed():
			t.Errorf("%s was told twice", what)
		default:
		}
	}
	file := filepath.Join(d.path, "src", "a.c")

	for _, text := range []string{"", "2", "22", "222"} { // in place, piece by piece
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told("several writes")

	d.put("src/4913", "Vim tries the folder")
	d.remove("src/4913")
	d.move("src/a.c", "src/a.c~")
	d.put("src/a.c", "3")
	d.remove("src/a.c~")
	told("a file in place of another")

	// None of this is a change.
	if err := os.Chtimes(file, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	d.put("plugin.wasm", "an output")
	d.put("node_modules/x/index.js", "a package")
	d.put(".git/index", "hidden")
	d.put("src/new.c", "a change")
	told("a new file")

	d.put("deep/er/b.c", "1")
	told("a new folder")
	d.put("deep/er/b.c", "2")
	told("a file in a new folder")
	d.remove("src/new.c")
	told("a file that is gone")
}

// TestTreeRescan: a folder without notices is looked at all the same.
func TestTreeRescan(t *testing.T) {
	d := dir{t, t.TempDir()}
	d.put("a.c", "1")
	tree := followTree(t, d.path, 5*time.Millisecond)
	if err := os.Rename(d.path, d.path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.path, 0o755); err != nil {
		t.Fatal(err)
	}
	d.put("a.c", "2")
	tells(t, tree, "a folder in place of another")
}
