package testrun

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
	"armature/runtime/quickjs"
)

//go:embed library
var library embed.FS

// Site is where tests run: a real one, which belongs to whoever runs them.
type Site interface {
	// Begin begins a fresh site, on which the plugin is installed.
	Begin(ctx context.Context) error
	// Answer answers what a test asks for.
	Answer(ctx context.Context, module, name string, request []byte) ([]byte, error)
	// Now and Read are the clock and the randomness of tests.
	Now() time.Time
	io.Reader
}

// Runner runs tests, one at a time.
type Runner struct {
	site   Site
	engine *engine.Engine
	lines  *Lines // of the file that is loaded, of the test that runs, and of its plugin
}

// New makes a Runner, which has to be closed. The interpreter of scripts is kept
// compiled in the folder cache; empty: it is compiled anew, which takes half a
// second. What tests log is shown with them: lines is where it goes, and where the
// site logs.
func New(ctx context.Context, site Site, lines *Lines, cache string) (*Runner, error) {
	text, err := libraryText()
	if err != nil {
		return nil, err
	}
	r := &Runner{site: site, lines: lines}
	imports := hostapi.BenchImports(hostapi.Config{Now: site.Now, Random: site, Logger: slog.New(lines)}, site.Answer)
	most := limits
	r.engine, err = engine.New(ctx, engine.Config{
		Imports: imports, Interpreters: []engine.Interpreter{quickjs.New(imports).With(text)},
		CacheDir: cache, Now: site.Now, Maximum: most,
	})
	if err != nil {
		return nil, fmt.Errorf("WebAssembly: %w", err)
	}
	return r, nil
}

// Close ends the Runner.
func (r *Runner) Close(ctx context.Context) error { return r.engine.Close(ctx) }

// callsPerTest is how many calls' worth of processor time a test has: it makes
// some, and looks at what has come of them.
const callsPerTest = 10

// limits are those of a test: of one that hangs it is said soon, and no test is in
// the way of one that does much.
var limits = engine.Limits{
	Memory: 256 << 20, Fuel: engine.DefaultLimits().Fuel * callsPerTest, Wall: time.Minute,
	Depth: engine.DefaultLimits().Depth, HostCalls: 100_000,
}

// run calls an export from the state after loading.
func (r *Runner) run(ctx context.Context, m *engine.Module, export string, input any) ([]byte, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	p := &hostapi.Plugin{Site: "test", Name: "test", Limits: hostapi.MaxLimits, Logger: slog.New(r.lines)}
	call := &method.Call{Verb: "POST", Caller: identity.Root(), Method: &method.Method{Path: "test", Writes: true}}
	st := hostapi.New(p, call, text)
	defer st.Free()
	_, err = st.Run(ctx, m, export, limits)
	return st.Output(), err
}

// test runs an export as a test, on a fresh site.
func (r *Runner) test(ctx context.Context, m *engine.Module, export string, input any, result *Result) error {
	if err := r.site.Begin(ctx); err != nil {
		result.Error = "the plugin is not on its test's site: " + err.Error()
		return ctx.Err()
	}
	start := time.Now()
	_, err := r.run(ctx, m, export, input)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	result.Took, result.Log = time.Since(start), r.lines.Take()
	if err != nil {
		result.explain(err)
	}
	return nil
}

// libraryText is all of what tests of scripts import, in the order of its files'
// names.
func libraryText() ([]byte, error) {
	var b bytes.Buffer
	err := fs.WalkDir(library, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := library.ReadFile(path)
		b.Write(text)
		return err
	})
	return b.Bytes(), err
}
