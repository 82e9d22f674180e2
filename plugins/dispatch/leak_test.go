package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/store"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/plugintest"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// held is what a process holds that a leak would add to.
type held struct{ goroutines, mappings int }

func holds(t *testing.T) held {
	t.Helper()
	h := held{goroutines: runtime.NumGoroutine()}
	if text, err := os.ReadFile("/proc/self/maps"); err == nil {
		h.mappings = strings.Count(string(text), "\n")
	}
	return h
}

// TestHundredSwaps replaces a plugin by a hundred other modules while it is
// called: no call fails, and nothing of the old ones is left.
func TestHundredSwaps(t *testing.T) {
	const swaps = 100
	ctx := t.Context()
	e, err := engine.New(ctx, engine.Config{Imports: hostapi.Imports(hostapi.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	r := registry.New()
	l := loader.New(loader.Config{Engine: e}).Open(r.Shared(), "")
	served := dispatch.Open(r, dispatch.Config{Site: "one"})
	st, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	methods := method.New(method.Config{Invoker: served, Store: st, Documents: document.NewService(document.ServiceConfig{
		Store: st, Catalog: doctype.NewCatalog(emptySchema(t, st)),
	})})
	path := filepath.Join(t.TempDir(), "a.wasm")
	install := func(n int) {
		t.Helper()
		version := fmt.Sprint(n)
		if err := os.WriteFile(path, plugintest.Asks(t, "acme.a", version, version, nil, "caller_get"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.Load(ctx, path); err != nil {
			t.Fatal(err)
		}
	}
	call := func() error {
		res, err := methods.Run(ctx, method.Invocation{Path: "acme.a.caller_get", Verb: http.MethodGet, Caller: identity.Root()})
		if err == nil && !json.Valid(res.Message) {
			err = fmt.Errorf("answer %q", res.Message)
		}
		return err
	}
	var calls, failed atomic.Int64
	load := func(stop <-chan struct{}) *sync.WaitGroup {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := call(); err != nil && failed.Add(1) < 5 {
						t.Error(err)
					}
					calls.Add(1)
				}
			})
		}
		return &wg
	}
	round := func(from, n int) {
		install(from)
		stop := make(chan struct{})
		wg := load(stop)
		for i := range n {
			install(from + i + 1)
			for before := calls.Load(); calls.Load() < before+4; {
				runtime.Gosched()
			}
		}
		close(stop)
		wg.Wait()
		l.Unload(path)
	}
	start := holds(t)
	round(0, 5) // what the first calls make once and keep
	eventually(func() bool { return holds(t).goroutines <= start.goroutines })
	before := holds(t)
	round(1000, swaps)
	// A module is freed by whoever was the last to call it.
	eventually(func() bool {
		h := holds(t)
		return h.goroutines <= before.goroutines && h.mappings < before.mappings+swaps/2
	})
	after := holds(t)
	t.Logf("%d calls; %+v, then %+v", calls.Load(), before, after)
	if after.goroutines > before.goroutines || after.mappings >= before.mappings+swaps/2 {
		t.Errorf("held %+v, then %+v", before, after)
	}
}

// eventually waits for what others do in their own time.
func eventually(done func() bool) {
	for deadline := time.Now().Add(time.Minute); !done() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		runtime.GC()
	}
}

func emptySchema(t *testing.T, st document.Store) *doctype.Schema {
	t.Helper()
	sc, err := doctypes.Install(t.Context(), st, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}
