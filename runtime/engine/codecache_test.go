package engine_test

import (
	"encoding/binary"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/runtime/engine"
)

// cacheFiles lists every file below a folder.
func cacheFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// useCache loads a module in an engine of its own and calls it.
func useCache(t *testing.T, dir string, wasm []byte) {
	t.Helper()
	e, err := engine.New(t.Context(), engine.Config{Imports: hostImports(), CacheDir: dir})
	if err != nil {
		t.Fatalf("the engine does not start: %v", err)
	}
	m, err := e.Load(t.Context(), wasm)
	if err != nil {
		t.Fatalf("the module does not load: %v", err)
	}
	healthy(t, m)
	m.Release()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Whatever becomes of any file of the cache, modules load and run, and the cache
// is whole afterwards.
func TestDamagedCache(t *testing.T) {
	overwrite := func(at int, with ...byte) func([]byte) []byte {
		return func(b []byte) []byte {
			return append(b[:min(at, len(b))], append(with, b[min(len(b), at+len(with)):]...)...)
		}
	}
	mutations := map[string]func([]byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"a byte":        func(b []byte) []byte { return b[:1] },
		"half":          func(b []byte) []byte { return b[:len(b)/2] },
		"end missing":   func(b []byte) []byte { return b[:len(b)-1] },
		"longer":        func(b []byte) []byte { return append(b, b...) },
		"zeros":         func(b []byte) []byte { return make([]byte, len(b)) },
		"text":          func([]byte) []byte { return []byte("damaged") },
		"JSON":          func([]byte) []byte { return []byte(`{"../../x":"1"}`) },
		"null":          func([]byte) []byte { return []byte(`null`) },
		"other version": func(b []byte) []byte { return []byte(strings.Replace(string(b), "1.", "9.", 1)) },
	}
	wasm := mustGuest(t, "misbehave")
	first := t.TempDir()
	useCache(t, first, wasm)
	// The count of functions comes after the magic number and the version; what
	// each byte of the head says, may be more than there is.
	for at := range 40 {
		mutations["byte "+string(rune('A'+at))+" of the head"] = overwrite(at, 0xff)
	}
	mutations["four of the head"] = overwrite(12, binary.LittleEndian.AppendUint32(nil, 1<<31)...)
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		mutations["flip "+string(rune('A'+seed))] = func(b []byte) []byte {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
			return b
		}
	}
	want := len(cacheFiles(t, first))
	for _, only := range []string{".note", ""} { // the notes, and what they are about
		for name, mutate := range mutations {
			t.Run(name+" of "+only, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
					t.Fatal(err)
				}
				changed := 0
				for _, path := range cacheFiles(t, dir) {
					if strings.HasSuffix(path, ".note") != (only == ".note") {
						continue
					}
					text, err := os.ReadFile(path)
					if err == nil {
						err = os.WriteFile(path, mutate(text), 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
					changed++
				}
				if changed == 0 {
					t.Fatal("there is nothing to damage")
				}
				useCache(t, dir, wasm)
				if got := len(cacheFiles(t, dir)); got != want {
					t.Errorf("%d files afterwards, want %d", got, want)
				}
			})
		}
	}
}

// What is damaged while an engine runs is noticed when it is read, not only when
// the engine begins.
func TestCacheDamagedWhileItIsUsed(t *testing.T) {
	dir := t.TempDir()
	wasm := mustGuest(t, "misbehave")
	useCache(t, dir, wasm)
	e, err := engine.New(t.Context(), engine.Config{Imports: hostImports(), CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, path := range cacheFiles(t, dir) {
		text, err := os.ReadFile(path)
		if err == nil {
			text[len(text)/3] ^= 0xff
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := e.Load(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	healthy(t, m)
}

// A second use takes the code from the cache.
func TestCacheIsUsed(t *testing.T) {
	dir := t.TempDir()
	wasm := mustGuest(t, "misbehave")
	useCache(t, dir, wasm)
	before := map[string]fs.FileInfo{}
	for _, path := range cacheFiles(t, dir) {
		before[path], _ = os.Stat(path)
	}
	useCache(t, dir, wasm)
	for path, then := range before {
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, then) {
			t.Errorf("%s was written again: %v", path, err)
		}
	}
}

// Where compiled code cannot be kept, the engine goes without.
func TestNoPlaceForTheCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	useCache(t, file, mustGuest(t, "misbehave"))
}

// Something else than a file in a file's place is thrown away as well.
func TestCacheOfFolders(t *testing.T) {
	dir := t.TempDir()
	wasm := mustGuest(t, "misbehave")
	useCache(t, dir, wasm)
	for _, path := range cacheFiles(t, dir) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	useCache(t, dir, wasm)
}
