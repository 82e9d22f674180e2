package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/cmd/armature/settings"
	"armature/cmd/armature/testbench"
	"armature/plugins/bundle"
	"armature/plugins/toolchain"
)

func (g *group) execCommand() *cobra.Command {
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
			return g.execTests(cmd.Context(), args)
		},
	}
}

// execTests builds the plugin, and runs the program args[0] beside it.
func (g *group) execTests(ctx context.Context, args []string) error {
	dir, err := pluginAround()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := testbench.Open(ctx, g.Installation, 2, log)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := g.putOn(ctx, b, dir); err != nil {
		return err
	}
	if args[0] == "-" {
		return b.Pipe(ctx, os.Stdin, g.Stdout)
	}
	program, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	return b.Program(ctx, dir, program, args[1:], g.Stdout, g.Stderr)
}

// putOn builds a plugin and has a bench test it.
func (g *group) putOn(ctx context.Context, b *testbench.Bench, dir string) error {
	w, err := toolchain.NewWorkspace(settings.ToolEnvironment())
	if err != nil {
		return err
	}
	defer w.Close()
	var printed bytes.Buffer
	whole, pl, err := w.Build(ctx, dir, &printed)
	if err != nil {
		_, _ = g.Stderr.Write(printed.Bytes())
		return fmt.Errorf("build %s: %w", dir, err)
	}
	return b.Install(ctx, whole, pl)
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
