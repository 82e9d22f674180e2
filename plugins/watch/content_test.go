package watch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recorder notes what it is told, and refuses what is in refuses.
type recorder struct {
	told    []string
	refuses map[string]bool
}

func (r *recorder) Load(_ context.Context, path string) error {
	name := filepath.Base(path)
	r.told = append(r.told, "load "+name)
	if r.refuses[name] {
		return errors.New("refused")
	}
	return nil
}

func (r *recorder) Unload(path string) { r.told = append(r.told, "unload "+filepath.Base(path)) }

func (r *recorder) wants(t *testing.T, wants ...string) {
	t.Helper()
	if !slices.Equal(r.told, wants) {
		t.Errorf("told %q, want %q", r.told, wants)
	}
	r.told = nil
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestStability(t *testing.T) {
	dir, r := t.TempDir(), &recorder{}
	f := newContent(r, slog.New(slog.DiscardHandler), dir)
	look := func(changing bool) {
		t.Helper()
		if got := f.look(t.Context()); got != changing {
			t.Errorf("look reports %v", got)
		}
	}
	write(t, dir, "a.wasm", "1")
	look(true)
	r.wants(t) // it has only been seen once
	write(t, dir, "a.wasm", "12")
	look(true)
	r.wants(t) // and is still growing
	look(false)
	r.wants(t, "load a.wasm")
	look(false)
	r.wants(t) // nothing has changed

	write(t, dir, "a.wasm", "123")
	look(true)
	if err := os.Remove(filepath.Join(dir, "a.wasm")); err != nil {
		t.Fatal(err)
	}
	look(false)
	r.wants(t, "unload a.wasm")
	write(t, dir, "b.wasm", "1")
	look(true)
	if err := os.Remove(filepath.Join(dir, "b.wasm")); err != nil {
		t.Fatal(err)
	}
	look(false)
	r.wants(t) // what was never loaded is not unloaded
}

// TestRefusedAgain: what was refused is tried when something else has gone, for
// example the plugin whose name it has.
func TestRefusedAgain(t *testing.T) {
	dir, r := t.TempDir(), &recorder{refuses: map[string]bool{"b.wasm": true}}
	f := newContent(r, slog.New(slog.DiscardHandler), dir)
	write(t, dir, "a.wasm", "1")
	f.loadAll(t.Context())
	r.wants(t, "load a.wasm")
	write(t, dir, "b.wasm", "1")
	f.loadAll(t.Context())
	r.wants(t, "load b.wasm")
	f.loadAll(t.Context())
	r.wants(t) // not over and over

	delete(r.refuses, "b.wasm")
	if err := os.Remove(filepath.Join(dir, "a.wasm")); err != nil {
		t.Fatal(err)
	}
	f.look(t.Context())
	r.wants(t, "unload a.wasm", "load b.wasm")
}

func TestUnreadable(t *testing.T) {
	dir, r := t.TempDir(), &recorder{}
	path := filepath.Join(dir, "plugins")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	f := newContent(r, slog.New(slog.DiscardHandler), path)
	write(t, path, "a.wasm", "1")
	f.loadAll(t.Context())
	r.wants(t, "load a.wasm")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "plugins", "a file in the folder's place")
	f.look(t.Context())
	r.wants(t) // nobody has removed anything
}
