package dispatch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
	"armature/plugins/bundle"
	"armature/plugins/plugintest"
)

// patched is a guest with one piece of its manifest replaced.
func patched(t testing.TB, dir, old, new string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, bundle.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, new, 1)
	if changed == string(text) {
		t.Fatalf("the manifest in %s has no %s", dir, old)
	}
	b, err := bundle.Embed(plugintest.Build(t, dir), []byte(changed))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *site) count(doctype string) (n int64) {
	s.t.Helper()
	err := s.store.Read(s.t.Context(), func(tx document.Tx) (err error) {
		n, err = s.documents.As(identity.Root(), tx).Count(s.t.Context(), doctype, &query.Query{})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestSwapUnderLoad replaces a plugin again and again while it is called: no
// call fails, and no call sees half a version.
func TestSwapUnderLoad(t *testing.T) {
	const swaps = 20
	s := newSite(t).with(todo)
	name := s.mustInsert("ToDo", m{"description": "close me"})
	stop := make(chan struct{})
	var calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 4 {
		path, args := "acme.todo.echo", m{"name": name}
		if i == 0 {
			path = "acme.todo.close"
		}
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.run("POST", path, args); err != nil {
					t.Errorf("%s during a swap: %v", path, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	wasm := plugintest.Build(t, todo)
	for n := range swaps {
		before := calls.Load()
		next := patched(t, todo, `"1.0.0"`, fmt.Sprintf(`"1.0.%d"`, n+1))
		if n%10 == 9 {
			// Now and then another module, too: one more custom section.
			next = append(bytes.Clone(next), 0, 2, 1, byte('0'+n%10))
		}
		if err := s.install("todo.wasm", next); err != nil {
			t.Fatal(err)
		}
		for calls.Load() < before+8 && !t.Failed() {
			if _, err := s.run("GET", "acme.todo.echo", m{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d calls during %d swaps of %d bytes", calls.Load(), swaps, len(wasm))
}

// TestBroken: whatever is put in its place, the version that serves goes on.
func TestBroken(t *testing.T) {
	s := newSite(t).with(todo)
	whole := plugintest.Build(t, todo)
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"half written", whole[:len(whole)/2], "cut off"},
		{"text", []byte("<html>404</html>"), "not a WebAssembly module"},
		{"unknown export", patched(t, todo, `"acme.todo.echo"`, `"acme.todo.echoes"`), "does not export acme.todo.echoes"},
		{"not asked for", patched(t, todo, `"resource:ToDo:read", "resource:ToDo:update"`, `"doc_list", "doc_update"`), "imports doc_get, which the manifest does not ask for"},
		{"wrong shape", patched(t, events, `"export": "manual"`, `"export": "shapeless"`), "The export shapeless takes [i32 i32] and returns [i32]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := s.install("todo.wasm", tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			if _, err := s.run("POST", "acme.todo.echo", nil); err != nil {
				t.Errorf("the old version: %v", err)
			}
			states := s.loader.States()
			if len(states) != 1 || states[0].Status != "serving" || states[0].Version != "1.0.0" || !strings.Contains(states[0].Error, tt.want) {
				t.Errorf("state %+v", states)
			}
		})
	}
	if err := s.install("todo.wasm", whole); err != nil {
		t.Fatal(err)
	}
	if st := s.loader.States()[0]; st.Error != "" || len(st.Methods) < 3 {
		t.Errorf("state %+v", st)
	}
	s.loader.Unload(filepath.Join(s.dir, "todo.wasm"))
	if _, err := s.run("POST", "acme.todo.echo", nil); err == nil || len(s.loader.States()) != 0 {
		t.Errorf("after removal: %v, %+v", err, s.loader.States())
	}
}
