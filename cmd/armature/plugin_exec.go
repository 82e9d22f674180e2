package main

import (
	"context"
	"errors"
	"fmt"
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
			"which is what armature plugin test does. The plugin around the working directory is built first,\n" +
			"and installed on the site of each test. The program has arguments, the environment without\n" +
			"settings of ours, the plugin's folder and a temporary one.",
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
	program, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "armature-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "plugin.wasm")
	built, _, err := a.buildPlugin(ctx, dir, "", file)
	if err != nil {
		return fmt.Errorf("build %s: %w", dir, err)
	}
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := a.openBench(ctx, tmp, file, built.Manifest.Name, log)
	if err != nil {
		return err
	}
	defer b.close()
	spare := filepath.Join(tmp, "tmp")
	if err := os.Mkdir(spare, 0o700); err != nil {
		return err
	}
	c := &engine.Command{
		Args: append([]string{program}, args[1:]...), Env: programEnv(spare), Stdout: a.stdout, Stderr: a.stderr,
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
		Imports: hostapi.BenchImports(hostapi.Config{Now: b.now, Random: b}, b.answer), Command: c,
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
func programEnv(tmp string) []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, envPrefix) || strings.HasPrefix(pair, "TMPDIR=") || strings.HasPrefix(pair, "PWD=") || !strings.Contains(pair, "=")
	})
	wd, _ := os.Getwd() // pluginAround has just had it
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
