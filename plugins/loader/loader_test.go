package loader_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/plugins/bundle"
	"armature/plugins/loader"
	"armature/plugins/registry"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// The modules export "run", (i32) -> (), and imports what the
// tests want.
var (
	plain   = wasm("")
	imports = wasm("\x02\x15\x01\x09armature1\x07doc_get\x00\x01")
	unknown = wasm("\x02\x0c\x01\x03env\x04frob\x00\x01")

	// bare is plain without its memory.
	bare = []byte(strings.NewReplacer("\x05\x03\x01\x00\x01", "",
		"\x07\x10\x02\x03run\x00\x00\x06memory\x02\x00", "\x07\x07\x01\x03run\x00\x00").Replace(string(plain)))
)

// wasm is a module with the given import section, one function that returns at
// once, a memory and the export "run".
func wasm(importSection string) []byte {
	index := "\x00"
	if importSection != "" {
		index = "\x01"
	}
	return []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x0d\x02" + "\x60\x01\x7f\x00" + "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f" + // types
		importSection +
		"\x03\x02\x01\x00" + // one function of type 0
		"\x05\x03\x01\x00\x01" + // memory
		"\x07\x10\x02\x03run\x00" + index + "\x06memory\x02\x00" + // exports
		"\x0a\x04\x01\x02\x00\x0b") // its code: end
}

type world struct {
	t       *testing.T
	dir     string
	sources *loader.Sources
	log     bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	eng, err := engine.New(t.Context(), engine.Config{Imports: hostapi.Imports(hostapi.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close(context.Background()) })
	w.sources = loader.New(loader.Config{
		Engine: eng, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
		Now: func() time.Time { return time.Unix(1, 0) },
	}).Open(registry.New().Shared(), "")
	return w
}

// load installs a file for all sites and loads it.
func (w *world) load(file string, module []byte, manifest string) error {
	w.t.Helper()
	b, err := bundle.Embed(module, []byte(manifest))
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.dir, file)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w.sources.Load(w.t.Context(), path)
}

const one = `{"name": "acme.one", "version": "1", "abi": 1, "methods": [{"path": "acme.one.run", "export": "run"}]}`

func TestStates(t *testing.T) {
	w := newWorld(t)
	if err := w.load("one.wasm", plain, one); err != nil {
		t.Fatal(err)
	}
	if err := w.load("other.wasm", plain, one); err == nil || !strings.Contains(err.Error(), "one.wasm") || !strings.Contains(err.Error(), "other.wasm") {
		t.Errorf("the same name from two sources: %v", err)
	}
	states := w.sources.States()
	if len(states) != 2 {
		t.Fatalf("states %+v", states)
	}
	if s := states[0]; s.Status != loader.Serving || s.Name != "acme.one" || s.Methods[0] != "acme.one.run" || s.Error != "" || s.LoadedAt.Unix() != 1 || s.Hash == "" {
		t.Errorf("state %+v", s)
	}
	if s := states[1]; s.Status != loader.Failed || s.Name != "acme.one" || !strings.Contains(s.Error, "installed already") {
		t.Errorf("state %+v", s)
	}
	if n := strings.Count(w.log.String(), "plugin loaded"); n != 1 {
		t.Errorf("%d lines about loading in %s", n, &w.log)
	}

	// What serves already is not loaded again.
	if err := w.load("one.wasm", plain, one); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.log.String(), "plugin loaded"); n != 1 {
		t.Error("the same bundle was loaded twice")
	}

	w.sources.Unload(filepath.Join(w.dir, "one.wasm"))
	if err := w.load("other.wasm", plain, one); err != nil {
		t.Errorf("after the other one has gone: %v", err)
	}
	if all := w.sources.States(); len(all) != 1 || all[0].Status != loader.Serving {
		t.Errorf("states %+v", all)
	}
}

func TestClaims(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		name, manifest string
		module         []byte
		want           string
	}{
		{"unknown import", one, unknown, "frob"},
		{"import not asked for", strings.Replace(one, `"methods"`, `"grants": ["doc_list"], "methods"`, 1), imports, "imports doc_get"},
		{"narrowed by scopes", strings.Replace(one, `"methods"`, `"grants": ["resource:ToDo:read"], "methods"`, 1), imports, ""},
		{"missing export", strings.Replace(one, `"export": "run"`, `"export": "walk"`, 1), plain, "does not export walk"},
		{"missing handler", strings.Replace(one, `"methods"`, `"events": {"ToDo.validate": "check"}, "methods"`, 1), plain, "the event ToDo.validate"},
		{"not a function", strings.Replace(one, `"export": "run"`, `"export": "mem"`, 1), plain, "does not export mem"},
		{"no memory", one, bare, "The module has no memory"},
		{"asked for", strings.Replace(one, `"methods"`, `"grants": ["doc_get"], "methods"`, 1), imports, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := w.load("one.wasm", tt.module, tt.manifest)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			if why := loader.Reason(err); strings.Count(why, tt.want) != 1 || strings.Contains(why, "ValidationError") {
				t.Errorf("reason %q, want %q in it, once", why, tt.want)
			}
		})
	}
	line := w.log.String()
	for _, want := range []string{"plugin=acme.one", "version=1", "source=", "error=", "level=ERROR"} {
		if !strings.Contains(line, want) {
			t.Errorf("the log lacks %s: %s", want, line)
		}
	}
}
