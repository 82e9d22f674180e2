package testbench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"armature/cmd/armature/settings"
	"armature/cmd/armature/terminal"
	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// Program runs a program of tests of the plugin in the folder dir, with its
// arguments.
func (b *Bench) Program(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) error {
	spare, err := os.MkdirTemp("", "armature-tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(spare)
	c := &engine.Command{
		Args: append([]string{program}, args...), Env: programEnv(dir, spare), Stdout: stdout, Stderr: stderr,
		// go test leaves what it wants to know beside the program.
		Folders: folders(dir, spare, filepath.Dir(program)),
	}
	return b.exec(ctx, program, c)
}

// exec runs a program in an engine of its own, whose imports are the tests'.
func (b *Bench) exec(ctx context.Context, program string, c *engine.Command) error {
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	most := engine.Limits{Memory: 2 << 30, Fuel: 1 << 42, Wall: 24 * time.Hour, Depth: 100_000, HostCalls: 1 << 30}
	e, err := engine.New(ctx, engine.Config{
		Imports: hostapi.BenchImports(hostapi.Config{Now: b.Now, Random: b}, b.Answer), Command: c,
		CacheDir: Cache(), Defaults: most, Maximum: most, MaxModule: 256 << 20,
	})
	if err != nil {
		return err
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	m, err := e.Load(ctx, wasm)
	if err != nil {
		return err
	}
	defer m.Release()
	call := &method.Call{Caller: identity.Root(), Method: &method.Method{Path: "test", Writes: true}}
	st := hostapi.New(&hostapi.Plugin{Site: "test", Name: b.plugin, Limits: hostapi.MaxLimits}, call, nil)
	defer st.Free()
	_, err = st.Run(ctx, m, "_start", most)
	var ended *engine.Error
	if errors.As(err, &ended) && ended.Reason == engine.Exited {
		return terminal.ExitError{Code: int(ended.Code)}
	}
	return err
}

// programEnv is the environment without our settings, among which are secrets.
func programEnv(dir, tmp string) []string {
	env := slices.DeleteFunc(settings.ToolEnvironment(), func(pair string) bool {
		return strings.HasPrefix(pair, "TMPDIR=") || strings.HasPrefix(pair, "PWD=") || !strings.Contains(pair, "=")
	})
	// Go's tests run in the folder of their package, others in the plugin's.
	wd, err := os.Getwd()
	if err != nil || !filepath.IsAbs(wd) || !strings.HasPrefix(wd+string(filepath.Separator), dir+string(filepath.Separator)) {
		wd = dir
	}
	return append(env, "TMPDIR="+tmp, "PWD="+wd)
}

// folders are the given ones that are there, each once.
func folders(all ...string) (there []string) {
	for _, dir := range all {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(there, dir) {
			there = append(there, dir)
		}
	}
	return there
}
