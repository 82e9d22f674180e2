// Package plugintest builds the guests that the tests of plugins/... run.
package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"armature/plugins/bundle"
)

// built are the bundles of this run of the tests, by directory.
var built sync.Map

type result struct {
	bundle []byte
	err    error
}

// Build compiles the Go plugin in dir, which has an armature.json, into a
// single-file bundle. Each directory is built once.
func Build(tb testing.TB, dir string) []byte {
	tb.Helper()
	once, _ := built.LoadOrStore(dir, sync.OnceValue(func() result {
		b, err := build(dir)
		return result{b, err}
	}))
	r := once.(func() result)()
	if r.err != nil {
		tb.Fatalf("build the plugin in %s: %v", dir, r.err)
	}
	return r.bundle
}

func build(dir string) ([]byte, error) {
	manifest, err := os.ReadFile(filepath.Join(dir, bundle.ManifestFile))
	if err != nil {
		return nil, err
	}
	wasm, err := Compile(dir)
	if err != nil {
		return nil, err
	}
	return bundle.Embed(wasm, manifest)
}

// Compile compiles the Go package in dir into a module without a manifest.
func Compile(dir string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	out := filepath.Join(tmp, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(text), Err: err}
	}
	return os.ReadFile(out)
}
