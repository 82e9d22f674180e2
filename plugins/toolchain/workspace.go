package toolchain

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
)

// Compile compiles the sources in a folder into a module that is to be installed:
// optimised, and without names. Tools are run with env and print to out.
func Compile(ctx context.Context, dir string, env []string, out io.Writer) ([]byte, error) {
	l, err := languageOf(dir)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "armature-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	// Tools run in the folder, where a path relative to ours is another one.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	j := &job{dir: dir, tmp: tmp, module: filepath.Join(tmp, "module.wasm"), env: env, out: out}
	if err := l.build(ctx, j); err != nil {
		return nil, err
	}
	return os.ReadFile(j.module)
}

// Workspace is where plugins are built again and again while they are written. What
// it makes is for their author: quickly compiled, with the names and lines of the
// sources inside. It is for one goroutine at a time.
type Workspace struct {
	tmp   string
	env   []string
	cache *cache
}

// NewWorkspace makes a workspace, which has to be closed. Its tools are run with env.
func NewWorkspace(env []string) (*Workspace, error) {
	tmp, err := os.MkdirTemp("", "armature-build-")
	if err != nil {
		return nil, err
	}
	return &Workspace{tmp: tmp, env: env, cache: newCache()}, nil
}

// Close ends the tools that go on running between builds, and removes what was made.
func (w *Workspace) Close() error {
	w.cache.close()
	return os.RemoveAll(w.tmp)
}

// Build makes a bundle of a script, or of a folder of sources with its manifest.
// Tools print to out.
func (w *Workspace) Build(ctx context.Context, path string, out io.Writer) ([]byte, *bundle.Bundle, error) {
	if bundle.IsScript(path) {
		return parsed(bundle.Whole(path))
	}
	text, err := bundle.ManifestText(path)
	if err != nil {
		return nil, nil, err
	}
	if _, err := manifest.Parse(text); err != nil {
		return nil, nil, manifest.InFile(bundle.ManifestFile, err)
	}
	l, err := languageOf(path)
	if err != nil {
		return nil, nil, err
	}
	j := w.job(path, "module.wasm", out)
	if err := os.Remove(j.module); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	if err := l.build(ctx, j); err != nil {
		return nil, nil, err
	}
	wasm, err := os.ReadFile(j.module)
	if err != nil {
		return nil, nil, err
	}
	if wasm, err = j.withLines(wasm); err != nil {
		return nil, nil, err
	}
	if wasm, err = bundle.WithPublic(wasm, path); err != nil {
		return nil, nil, err
	}
	return parsed(bundle.Embed(wasm, text))
}

func parsed(whole []byte, err error) ([]byte, *bundle.Bundle, error) {
	if err != nil {
		return nil, nil, err
	}
	b, err := bundle.Parse(whole)
	return whole, b, err
}

// Test compiles the tests in a folder of sources and runs them on a bench. An error
// is that they cannot be run, or, of a language whose own tool runs and tells them,
// that they fail.
func (w *Workspace) Test(ctx context.Context, dir string, out io.Writer, b Bench) error {
	l, err := languageOf(dir)
	if err != nil {
		return err
	}
	return l.test(ctx, w.job(dir, "test.wasm", out), b)
}

func (w *Workspace) job(dir, module string, out io.Writer) *job {
	return &job{dir: dir, tmp: w.tmp, module: filepath.Join(w.tmp, module), env: w.env, out: out, cache: w.cache}
}
