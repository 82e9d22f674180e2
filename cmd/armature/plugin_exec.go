package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"armature/core/identity"
	"armature/core/method"
	"armature/plugins/bundle"
	"armature/plugins/toolchain"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

func (a *app) pluginExecCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "exec PROGRAM [ARGUMENT...]",
		Short: "Run the program of a plugin's tests, on a real site",
		Long: "Run a WebAssembly program, the tests of a plugin, on sites of their own in this process: what\n" +
			"runs plugins on a server runs it, with documents, permissions and hooks as a server has them.\n" +
			"Go's tests are run with\n\n" +
			"  GOOS=wasip1 GOARCH=wasm go test -exec \"armature plugin exec\"\n\n" +
			"which is what armature plugin test does; Rust's by Cargo with this as the runner of WebAssembly. The plugin around the working directory is built first,\n" +
			"and installed on the site of each test. The program has arguments, the environment without\n" +
			"settings of ours, the plugin's folder and a temporary one.\n\n" +
			"With - as PROGRAM the tests are a native program at the other end of a pipe, standard input and output:\n" +
			"the SDKs for Go and Rust start this command where go test and cargo test run natively.",
		DisableFlagParsing: true, // they are the program's
		Args:               cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "--help" || args[0] == "-h" {
				return cmd.Help()
			}
			return a.execTests(cmd.Context(), args)
		},
	}
}

// exitError ends the process with the code of a program that has said why.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// execTests builds the plugin, and runs the program args[0] beside it.
func (a *app) execTests(ctx context.Context, args []string) error {
	dir, err := pluginAround()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := a.openBench(ctx, 2, log)
	if err != nil {
		return err
	}
	defer b.close()
	if err := a.putOn(ctx, b, dir); err != nil {
		return err
	}
	if args[0] == "-" {
		return b.pipe(ctx, os.Stdin, a.stdout)
	}
	program, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	return b.program(ctx, dir, program, args[1:], a.stdout, a.stderr)
}

// putOn builds a plugin and has a bench test it.
func (a *app) putOn(ctx context.Context, b *bench, dir string) error {
	w, err := toolchain.NewWorkspace(toolEnvironment())
	if err != nil {
		return err
	}
	defer w.Close()
	var printed bytes.Buffer
	whole, pl, err := w.Build(ctx, dir, &printed)
	if err != nil {
		_, _ = a.stderr.Write(printed.Bytes())
		return fmt.Errorf("build %s: %w", dir, err)
	}
	return b.install(ctx, whole, pl)
}

// program runs a program of tests of the plugin in the folder dir, with its
// arguments.
func (b *bench) program(ctx context.Context, dir, program string, args []string, stdout, stderr io.Writer) error {
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
func (b *bench) exec(ctx context.Context, program string, c *engine.Command) error {
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	most := engine.Limits{Memory: 2 << 30, Fuel: 1 << 42, Wall: 24 * time.Hour, Depth: 100_000, HostCalls: 1 << 30}
	e, err := engine.New(ctx, engine.Config{
		Imports: hostapi.BenchImports(hostapi.Config{Now: b.Now, Random: b}, b.Answer), Command: c,
		CacheDir: testCache(), Defaults: most, Maximum: most, MaxModule: 256 << 20,
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
		return exitError{int(ended.Code)}
	}
	return err
}

// pluginAround is the folder of the plugin that the working directory is in.
func pluginAround() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, bundle.ManifestFile)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("there is no %s in %s or above it: tests run beside their plugin", bundle.ManifestFile, wd)
		}
	}
}

// programEnv is the environment without our settings, among which are secrets.
func programEnv(dir, tmp string) []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, envPrefix) || strings.HasPrefix(pair, "TMPDIR=") || strings.HasPrefix(pair, "PWD=") || !strings.Contains(pair, "=")
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
