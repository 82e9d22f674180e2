package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
)

func (a *app) pluginBuildCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "build [DIR | SCRIPT]",
		Short: "Build a plugin written in Go, JavaScript or TypeScript into one .wasm file",
		Long:  "Build a plugin into one .wasm file that holds its manifest. DIR holds the sources and\narmature.json; for Go nothing but Go is needed, for JavaScript and TypeScript, a file\nor a folder with main.js or main.ts, nothing at all.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			build := a.buildPlugin
			if bundle.IsScript(dir) {
				build = a.buildScript
			}
			switch {
			case output == "" && bundle.IsScript(dir):
				// Beside it: in the folder it would be a second module.
				output = abs + ".wasm"
			case output == "":
				output = filepath.Join(dir, fileName(abs))
			}
			b, size, err := build(cmd.Context(), dir, output)
			if err != nil {
				return fmt.Errorf("build %s: %w", dir, err)
			}
			return a.say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": output, "bytes": size, "hash": b.Hash},
				"built %s %s: %s, %d KiB", b.Manifest.Name, b.Manifest.Version, output, size/1024)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; without it DIR/<name of DIR>.wasm, or for a script beside it")
	return cmd
}

// buildPlugin compiles the sources and puts the manifest in. The file appears
// complete or not at all.
func (a *app) buildPlugin(ctx context.Context, dir, output string) (*bundle.Bundle, int, error) {
	text, err := bundle.ManifestText(dir)
	if err != nil {
		return nil, 0, err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errors.New("there is no go.mod: plugins in other languages are built with their own tools")
	}
	tmp, err := os.MkdirTemp("", "armature-build-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(tmp)
	module := filepath.Join(tmp, "module.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-w", "-o", module, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off")
	build.Stdout, build.Stderr = a.stderr, a.stderr
	if err := build.Run(); err != nil {
		return nil, 0, fmt.Errorf("go build: %w", err)
	}
	wasm, err := os.ReadFile(module)
	if err != nil {
		return nil, 0, err
	}
	whole, err := bundle.Embed(wasm, text)
	if err != nil {
		return nil, 0, err
	}
	b, err := bundle.Parse(whole)
	if err != nil {
		return nil, 0, err
	}
	return b, len(whole), replaceFile(output, whole)
}

// buildScript writes a script as the file it is installed as.
func (a *app) buildScript(_ context.Context, path, output string) (*bundle.Bundle, int, error) {
	whole, err := bundle.Whole(path)
	if err != nil {
		return nil, 0, err
	}
	b, err := bundle.Parse(whole)
	if err != nil {
		return nil, 0, err
	}
	return b, len(whole), replaceFile(output, whole)
}

// replaceFile writes a file under a hidden name and renames it: whoever watches
// the folder never reads half of it.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".armature-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
