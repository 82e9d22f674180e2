package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/script"
	"armature/plugins/toolchain"
)

func (a *app) pluginBuildCommand() *cobra.Command {
	var output, module string
	cmd := &cobra.Command{
		Use:   "build [DIR | SCRIPT]",
		Short: "Build a plugin into one .wasm file",
		Long: "Build a plugin into one .wasm file that holds its manifest. DIR holds armature.json and the\n" +
			"sources, whose names tell the language: go.mod is Go, src/lib.rs Rust, assembly/plugin.ts\n" +
			"AssemblyScript, *.c C, *.cpp C++, plugin.zig Zig, *.wat WebAssembly text. The compiler is needed,\n" +
			"the SDK is in this program (for Go the module names it). JavaScript and TypeScript, a file or a folder with\n" +
			"main.js or main.ts, need nothing. What another tool has built is given with --module.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := folder(args)
			abs, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			isScript := module == "" && (bundle.IsScript(dir) || script.IsTest(dir))
			switch {
			case output == "" && isScript:
				// Beside it: in the folder it would be a second module.
				output = abs + ".wasm"
			case output == "":
				output = filepath.Join(dir, fileName(abs))
			}
			var b *bundle.Bundle
			var size int
			if isScript {
				b, size, err = a.buildScript(dir, output)
			} else {
				b, size, err = a.buildPlugin(cmd.Context(), dir, module, output)
			}
			if err != nil {
				return fmt.Errorf("build %s: %w", dir, err)
			}
			return a.say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": output, "bytes": size, "hash": b.Hash},
				"built %s %s: %s, %d KiB", b.Manifest.Name, b.Manifest.Version, output, size/1024)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; without it DIR/<name of DIR>.wasm, or for a script beside it")
	cmd.Flags().StringVar(&module, "module", "", "module that another tool has built; only the manifest is put in")
	return cmd
}

func folder(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return "."
}

// buildPlugin compiles the sources, unless module is what they have been
// compiled to, and puts the manifest in. The file appears complete or not at all.
func (a *app) buildPlugin(ctx context.Context, dir, module, output string) (*bundle.Bundle, int, error) {
	text, err := bundle.ManifestText(dir)
	if err != nil {
		return nil, 0, err
	}
	// What is wrong with the manifest is said before anything is compiled.
	if _, err := manifest.Parse(text); err != nil {
		return nil, 0, manifest.InFile(bundle.ManifestFile, err)
	}
	var wasm []byte
	if module != "" {
		wasm, err = os.ReadFile(module)
	} else {
		wasm, err = toolchain.Compile(ctx, dir, toolEnvironment(), a.stderr)
	}
	if err == nil {
		wasm, err = bundle.Unsigned(wasm) // of what it was before
	}
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
	if err := b.Keeps(); err != nil {
		return nil, 0, err
	}
	return b, len(whole), replaceFile(output, whole)
}

// buildScript writes a script as the file it is installed as.
func (a *app) buildScript(path, output string) (*bundle.Bundle, int, error) {
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
