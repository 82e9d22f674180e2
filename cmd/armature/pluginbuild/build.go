// Package pluginbuild is the commands that make the file a plugin is installed as:
// begun, built, signed.
package pluginbuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/settings"
	"armature/cmd/armature/terminal"
	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/script"
	"armature/plugins/toolchain"
)

// group is the commands that make the file a plugin is installed as.
type group struct {
	*terminal.Terminal
}

// Commands are the command that runs compilers.
func Commands(t *terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{(&group{t}).buildCommand()}
}

// AuthorCommands are those of a plugin's author that run no compiler.
func AuthorCommands(t *terminal.Terminal) []*cobra.Command {
	a := &group{t}
	return []*cobra.Command{a.newCommand(), a.keygenCommand(), a.signCommand()}
}

func (g *group) buildCommand() *cobra.Command {
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
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
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
				output = filepath.Join(dir, bundle.FileName(abs))
			}
			var b *bundle.Bundle
			var size int
			if isScript {
				b, size, err = g.buildScript(dir, output)
			} else {
				b, size, err = g.buildPlugin(cmd.Context(), dir, module, output)
			}
			if err != nil {
				return fmt.Errorf("build %s: %w", dir, err)
			}
			return g.Say(map[string]any{"name": b.Manifest.Name, "version": b.Manifest.Version, "file": output, "bytes": size, "hash": b.Hash},
				"built %s %s: %s, %d KiB", b.Manifest.Name, b.Manifest.Version, output, size/1024)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; without it DIR/<name of DIR>.wasm, or for a script beside it")
	cmd.Flags().StringVar(&module, "module", "", "module that another tool has built; only the manifest is put in")
	return cmd
}

// buildPlugin compiles the sources, unless module is what they have been
// compiled to, and puts the manifest in. The file appears complete or not at all.
func (g *group) buildPlugin(ctx context.Context, dir, module, output string) (*bundle.Bundle, int, error) {
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
		shown := g.Progress()
		stop := shown.Work("compiling")
		wasm, err = toolchain.Compile(ctx, dir, settings.ToolEnvironment(), shown.Beside(g.Stderr))
		stop()
	}
	if err == nil {
		wasm, err = bundle.Unsigned(wasm) // of what it was before
	}
	if err == nil {
		wasm, err = bundle.WithPublic(wasm, dir)
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
	return b, len(whole), outfile.Replace(output, whole)
}

// buildScript writes a script as the file it is installed as.
func (g *group) buildScript(path, output string) (*bundle.Bundle, int, error) {
	whole, err := bundle.Whole(path)
	if err != nil {
		return nil, 0, err
	}
	b, err := bundle.Parse(whole)
	if err != nil {
		return nil, 0, err
	}
	return b, len(whole), outfile.Replace(output, whole)
}
