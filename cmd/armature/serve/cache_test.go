package serve_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// Whatever becomes of the cache, the server starts and its plugins answer.
func TestDamagedCache(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: t.TempDir()}
	in.Drop("greet.js", "export function hello() { return 1 }") // without a script nothing is compiled
	in.Serve().Stop()
	auth, cache := in.Keys("Administrator"), filepath.Join(in.Data, "cache")
	for name, mutate := range map[string]func([]byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"half":  func(b []byte) []byte { return b[:len(b)/2] },
		"zeros": func(b []byte) []byte { return make([]byte, len(b)) },
		"count": func(b []byte) []byte { copy(b[min(20, len(b)):], "\xff\xff\xff\xff"); return b },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				n++
				text, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, mutate(text), 0o600)
				}
				return err
			})
			if err != nil || n == 0 {
				t.Fatalf("%d files, %v", n, err)
			}
			s := in.Serve()
			s.Auth = auth
			s.Want("GET", "/api/method/greet.hello", nil)
			s.Stop()
		})
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	in.Serve().Want("GET", "/api/method/ping", nil)
}
