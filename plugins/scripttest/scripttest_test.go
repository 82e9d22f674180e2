package scripttest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"armature/core/egress"
	"armature/plugins/scripttest"
	"armature/runtime/abi"
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

// TestCapabilities: the host of tests, and its declarations, know every capability
// and none besides.
func TestCapabilities(t *testing.T) {
	declared, err := os.ReadFile(filepath.Join("..", "..", "sdk", "js", "armature-test.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	_, union, _ := strings.Cut(string(declared), "type Capability =")
	union, _, _ = strings.Cut(union, ";")
	names := regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(union, -1)
	if len(names) != len(abi.Capabilities()) {
		t.Errorf("%d are declared", len(names))
	}
	var text strings.Builder
	text.WriteString(`import { test, host } from "armature:test";` + "\n")
	for _, name := range abi.Capabilities() {
		fmt.Fprintf(&text, "test(%q, () => host.on(%q, () => null));\n", name, name)
		if !strings.Contains(union, `"`+name+`"`) {
			t.Errorf("%s is not declared", name)
		}
	}
	text.WriteString(`test("others", () => host.on("input", () => null));` + "\n")
	results := run(t, folder(t, map[string]string{"a.test.js": text.String()}))
	for i, r := range results {
		if last := i == len(results)-1; r.Failed() != last {
			t.Errorf("%+v", r)
		}
	}
}
