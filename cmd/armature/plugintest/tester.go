package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"armature/cmd/armature/installation"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/testbench"
	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/testrun"
	"armature/plugins/toolchain"
)

// Tester runs the tests of a plugin, as often as it is asked to.
type Tester struct {
	in    *installation.Installation
	path  string // a folder, a script or one of its tests
	work  *toolchain.Workspace
	ahead int
	Out   io.Writer // for what compilers and programs of tests print

	bench  *testbench.Bench // nil until something needs one
	runner *testrun.Runner
	lines  testrun.Lines
}

// NewTester makes a tester, which has to be closed. So many sites are ready for it
// before a test needs one.
func NewTester(in *installation.Installation, path string, ahead int) (*Tester, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	work, err := toolchain.NewWorkspace(settings.ToolEnvironment())
	if err != nil {
		return nil, err
	}
	return &Tester{in: in, path: path, work: work, ahead: ahead, Out: in.Stderr}, nil
}

func (t *Tester) Close() {
	if t.runner != nil {
		_ = t.runner.Close(context.Background()) // nothing of it runs any more
	}
	if t.bench != nil {
		t.bench.Close()
	}
	_ = t.work.Close() // what stays of it is in the temporary folder
}

// open is the bench of all rounds.
func (t *Tester) open(ctx context.Context) (_ *testbench.Bench, err error) {
	if t.bench == nil {
		t.bench, err = testbench.Open(ctx, t.in, t.ahead, slog.New(t.lines.OfPlugins()))
	}
	return t.bench, err
}

// running is the bench with what runs modules and scripts on it.
func (t *Tester) running(ctx context.Context) (*testbench.Bench, *testrun.Runner, error) {
	b, err := t.open(ctx)
	if err == nil && t.runner == nil {
		t.runner, err = testrun.New(ctx, b, &t.lines, testbench.Cache())
	}
	return b, t.runner, err
}

// Round runs all tests once and tells of each. An error is that they cannot be run,
// or, of programs that have told it themselves, that they fail.
func (t *Tester) Round(ctx context.Context, tell func(testrun.Result)) error {
	if isScriptTest(t.path) {
		return t.scripts(ctx, tell)
	}
	return t.work.Test(ctx, t.path, t.Out, &round{t, tell})
}

// round is the bench of one round of a language's tests, which tells of each.
type round struct {
	*Tester
	tell func(testrun.Result)
}

// Open satisfies toolchain.Bench. While compilers run, the bench makes sites.
func (r *round) Open(ctx context.Context) error {
	b, err := r.open(ctx)
	if err == nil {
		_, err = r.install(ctx, b, r.path)
	}
	return err
}

// Module satisfies toolchain.Bench.
func (r *round) Module(ctx context.Context, file string, wasm []byte) error {
	_, runner, err := r.running(ctx)
	if err != nil {
		return err
	}
	return runner.Module(ctx, file, wasm, r.tell)
}

// Program satisfies toolchain.Bench.
func (r *round) Program(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) error {
	return r.bench.Program(ctx, dir, program, args, stdout, stderr)
}

// Command satisfies toolchain.Bench: it is this program.
func (r *round) Command() (string, error) {
	self, err := os.Executable()
	return strconv.Quote(self) + " plugin exec", err
}

// Tell satisfies toolchain.Bench.
func (r *round) Tell(result testrun.Result) {
	result.Log = r.lines.Take()
	r.tell(result)
}

// scripts runs the tests of scripts, each with the script it is about.
func (t *Tester) scripts(ctx context.Context, tell func(testrun.Result)) error {
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
func (t *Tester) instead(ctx context.Context, b *testbench.Bench, path string) (*bundle.Bundle, error) {
	if path == "" {
		return nil, b.Remove("")
	}
	return t.install(ctx, b, path)
}

// install builds what is tested, and has the bench put it on each test's site.
func (t *Tester) install(ctx context.Context, b *testbench.Bench, path string) (*bundle.Bundle, error) {
	var printed bytes.Buffer
	whole, pl, err := t.work.Build(ctx, path, &printed)
	_, _ = t.Out.Write(printed.Bytes())
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", filepath.Base(path), err)
	}
	err = b.Install(ctx, whole, pl)
	t.lines.Take() // what is said of that is the error
	return pl, err
}
