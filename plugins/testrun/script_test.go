package testrun_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/testrun"
	"armature/runtime/abi"
)

// nowhere is a site that has nothing; cmd/armature tests with real ones.
type nowhere struct{ *rand.ChaCha8 }

func (n nowhere) Begin(context.Context) error {
	n.Seed([32]byte{})
	return nil
}

func (nowhere) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func (nowhere) Answer(_ context.Context, _, name string, _ []byte) ([]byte, error) {
	if name == abi.DocGet {
		return nil, fault.Missing("A B not found")
	}
	return []byte("null"), nil
}

// runner serves all tests, so that the interpreter is compiled once.
var runner = sync.OnceValues(func() (*testrun.Runner, error) {
	return testrun.New(context.Background(), nowhere{rand.NewChaCha8([32]byte{})}, &testrun.Lines{}, "")
})

// run runs the tests of a path.
func run(t *testing.T, path string) (results []testrun.Result) {
	t.Helper()
	files, err := testrun.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		var about *manifest.Manifest
		if f.Plugin != "" {
			b, err := bundle.Read(f.Plugin)
			if err != nil {
				results = append(results, testrun.Refused(f, err))
				continue
			}
			about = b.Manifest
		}
		if err := r.Script(t.Context(), f, about, func(one testrun.Result) { results = append(results, one) }); err != nil {
			t.Fatal(err)
		}
	}
	return results
}

// folder is a temporary folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
