package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/testrun"
)

// tester runs the tests of a plugin, as often as it is asked to.
type tester struct {
	app   *app
	path  string // a folder, a script or one of its tests
	tmp   string
	kept  *kept
	ahead int
	out   io.Writer // for what compilers and programs of tests print

	bench  *bench // nil until something needs one
	runner *testrun.Runner
	lines  testrun.Lines
}

// newTester makes a tester, which has to be closed. So many sites are ready for it
// before a test needs one.
func (a *app) newTester(path string, ahead int) (*tester, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "armature-build-")
	if err != nil {
		return nil, err
	}
	return &tester{app: a, path: path, tmp: tmp, kept: newKept(), ahead: ahead, out: a.stderr}, nil
}

func (t *tester) close() {
	if t.runner != nil {
		_ = t.runner.Close(context.Background()) // nothing of it runs any more
	}
	if t.bench != nil {
		t.bench.close()
	}
	t.kept.close()
	_ = os.RemoveAll(t.tmp)
}

// open is the bench of all rounds.
func (t *tester) open(ctx context.Context) (_ *bench, err error) {
	if t.bench == nil {
		t.bench, err = t.app.openBench(ctx, t.ahead, slog.New(t.lines.OfPlugins()))
	}
	return t.bench, err
}

// running is the bench with what runs modules and scripts on it.
func (t *tester) running(ctx context.Context) (*bench, *testrun.Runner, error) {
	b, err := t.open(ctx)
	if err == nil && t.runner == nil {
		t.runner, err = testrun.New(ctx, b, &t.lines, testCache())
	}
	return b, t.runner, err
}

// round runs all tests once and tells of each. An error is that they cannot be run,
// or, of programs that have told it themselves, that they fail.
func (t *tester) round(ctx context.Context, tell func(testrun.Result)) error {
	if isScriptTest(t.path) {
		return t.scripts(ctx, tell)
	}
	l, err := languageOf(t.path)
	if err != nil {
		return err
	}
	w := &workshop{dir: t.path, tmp: t.tmp, module: filepath.Join(t.tmp, "test.wasm"), out: t.out, kept: t.kept}
	if l.run != nil {
		return l.run(ctx, w, func() (*bench, error) {
			b, err := t.open(ctx)
			if err == nil {
				_, err = t.install(ctx, b, t.path)
			}
			return b, err
		}, func(r testrun.Result) {
			r.Log = t.lines.Take()
			tell(r)
		})
	}
	return t.modules(ctx, l, w, tell)
}

// modules compiles the files with tests, each into a module, and runs those.
func (t *tester) modules(ctx context.Context, l language, w *workshop, tell func(testrun.Result)) error {
	files, err := filepath.Glob(filepath.Join(t.path, filepath.FromSlash(l.tests)))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there is no %s", l.tests)
	}
	b, r, err := t.running(ctx) // while the compilers run, it makes sites
	if err != nil {
		return err
	}
	if _, err := t.install(ctx, b, t.path); err != nil {
		return err
	}
	for _, file := range files {
		rel, err := filepath.Rel(t.path, file)
		if err != nil {
			return err
		}
		if err := l.compile(ctx, w, rel); err != nil {
			return err
		}
		wasm, err := os.ReadFile(w.module)
		if err == nil {
			wasm, err = w.withLines(wasm)
		}
		if err != nil {
			return err
		}
		if err := r.Module(ctx, rel, wasm, tell); err != nil {
			return err
		}
	}
	return nil
}

// scripts runs the tests of scripts, each with the script it is about.
func (t *tester) scripts(ctx context.Context, tell func(testrun.Result)) error {
	files, err := testrun.Find(t.path)
	if err != nil {
		return err
	}
	b, r, err := t.running(ctx)
	if err != nil {
		return err
	}
	var about *bundle.Bundle // what is installed
	from := ""
	for _, f := range files {
		if f.Plugin != from || about == nil {
			if about, err = t.instead(ctx, b, f.Plugin); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				tell(testrun.Refused(f, err))
				continue
			}
			from = f.Plugin
		}
		var m *manifest.Manifest
		if about != nil {
			m = about.Manifest
		}
		if err := r.Script(ctx, f, m, tell); err != nil {
			return err
		}
	}
	return nil
}

// instead has the plugin of a script be the one that is tested; an empty path is no
// plugin.
func (t *tester) instead(ctx context.Context, b *bench, path string) (*bundle.Bundle, error) {
	if path == "" {
		return nil, b.remove("")
	}
	return t.install(ctx, b, path)
}

// install builds what is tested, and has the bench put it on each test's site.
func (t *tester) install(ctx context.Context, b *bench, path string) (*bundle.Bundle, error) {
	s := &session{dir: path, tmp: t.tmp, kept: t.kept}
	var printed bytes.Buffer
	whole, pl, err := s.build(ctx, &printed)
	_, _ = t.out.Write(printed.Bytes())
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", filepath.Base(path), err)
	}
	err = b.install(ctx, whole, pl)
	t.lines.Take() // what is said of that is the error
	return pl, err
}
