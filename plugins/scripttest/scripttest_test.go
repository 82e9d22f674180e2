package scripttest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"armature/core/egress"
	"armature/plugins/scripttest"
)

// runner serves all tests, so that the interpreter is compiled once.
var runner = sync.OnceValues(func() (*scripttest.Runner, error) {
	return scripttest.New(context.Background(), scripttest.Config{Reaches: func(hosts []string, url string) bool {
		set, err := egress.ParseHosts(hosts...)
		return err == nil && set.Allows(url)
	}})
})

// run runs the tests of a path.
func run(t *testing.T, path string) (results []scripttest.Result) {
	t.Helper()
	files, err := scripttest.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := r.Run(t.Context(), f, func(one scripttest.Result) { results = append(results, one) }); err != nil {
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

// TestHost: what the host of tests does is said by tests of its own.
func TestHost(t *testing.T) {
	results := run(t, filepath.Join("testdata", "acme.host"))
	for _, r := range results {
		if r.Failed() {
			t.Errorf("%s:%d: %s: %s\n%s", r.File, r.Line, r.Test, r.Error, strings.Join(r.Trace, "\n"))
		}
	}
	if first, last := results[0], results[len(results)-1]; len(results) < 18 || first.Test != "documents" || first.Line != 7 || last.File != filepath.Join("lib", "deep.test.js") {
		t.Errorf("%d results, from %+v to %+v", len(results), first, last)
	}
}
