package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"armature/core/doctype"
	"armature/plugins/manifest"
	"armature/sdk/abi"
	"armature/sdk/assemblyscript"
	"armature/sdk/c"
	"armature/sdk/cpp"
	armature "armature/sdk/go"
	"armature/sdk/js"
	"armature/sdk/rust"
	"armature/sdk/zig"
)

// scaffold is what a new plugin begins with, in a folder for each language.
//
//go:embed scaffold
var scaffold embed.FS

// beginning is a language a new plugin can be written in.
type beginning struct {
	name  string
	needs string // the command that installs its compiler; empty: it is a script and needs none
	sdk   func(dir string) error
}

func beginnings() []beginning {
	header := func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "armature.h"), c.Header, 0o644),
			os.WriteFile(filepath.Join(dir, "armature_test.h"), c.Testing, 0o644))
	}
	declarations := func(dir string) error { return unpack(js.Source, ".", dir) }
	return []beginning{
		{"go", "apt-get install golang-go", func(dir string) error {
			return unpack(armature.Source, ".", filepath.Join(dir, "armature"))
		}},
		{"rust", "apt-get install rustc libstd-rust-dev-wasm32 lld", func(dir string) error {
			// A crate, so that Cargo can build the plugin, too.
			crate := bytes.Replace(rust.Manifest, []byte(`"src/lib.rs"`), []byte(`"lib.rs"`), 1)
			return errors.Join(unpack(rust.Source, "src", filepath.Join(dir, "armature")), writeInto(dir, map[string][]byte{"armature/Cargo.toml": crate}))
		}},
		{"assemblyscript", "npm install", func(dir string) error {
			return writeInto(dir, map[string][]byte{"armature/index.ts": assemblyscript.Source, "armature/testing.ts": assemblyscript.Testing})
		}},
		{"c", "apt-get install clang lld", header},
		{"cpp", installCPP, func(dir string) error {
			return writeInto(dir, map[string][]byte{"armature.hpp": cpp.Header, "armature_test.hpp": cpp.Testing})
		}},
		{"zig", "npm install", func(dir string) error {
			return unpack(zig.Source, ".", filepath.Join(dir, "armature"))
		}},
		{"wat", "apt-get install wabt", func(string) error { return nil }}, // the contract is all there is
		{"js", "", declarations},
		{"ts", "", declarations},
	}
}

// langs are what --lang takes.
func langs() (names []string) {
	for _, b := range beginnings() {
		names = append(names, b.name)
	}
	return names
}

func (a *app) pluginNewCommand() *cobra.Command {
	names := langs()
	var lang, dir, module string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a plugin: sources, SDK, manifest, test and README",
		Long:  "Begin a plugin, in a folder of its own: sources, SDK, manifest, test and README. It builds without\na network where the compiler is installed; for AssemblyScript and Zig that is npm's.\nWith --module the folder is for a module that another tool has built, one of Extism's kits for\ninstance: the module and a manifest, to be looked through.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				dir = args[0]
			}
			if module != "" {
				return a.adoptModule(cmd.Context(), args[0], module, dir)
			}
			for _, b := range beginnings() {
				if b.name == lang {
					return a.beginPlugin(b, args[0], dir)
				}
			}
			return fmt.Errorf("--lang is one of %s", strings.Join(names, ", "))
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "language: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&module, "module", "", "module that is there already")
	cmd.MarkFlagsMutuallyExclusive("lang", "module")
	cmd.Flags().StringVar(&dir, "dir", "", "folder to make; without it NAME")
	return cmd
}

// beginPlugin writes the folder, which must not be there yet.
func (a *app) beginPlugin(b beginning, name, dir string) error {
	// The manifest says what is wrong with a name.
	if _, err := manifest.Parse(fmt.Appendf(nil, `{"name": %q, "version": "0", "abi": 1}`, name)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	data := map[string]any{
		"Name": name, "Path": strings.ReplaceAll(name, ".", "/"), "Needs": b.needs, "Script": b.needs == "", "Lang": b.name,
	}
	files, err := fs.Sub(scaffold, "scaffold/"+b.name)
	if err != nil {
		return err
	}
	if err := fill(files, dir, data); err != nil {
		return err
	}
	common, err := fs.Sub(scaffold, "scaffold/all")
	if err != nil {
		return err
	}
	if err := fill(common, dir, data); err != nil {
		return err
	}
	if err := b.sdk(dir); err != nil {
		return err
	}
	if err := writeSchemas(dir); err != nil {
		return err
	}
	return a.say(map[string]any{"name": name, "dir": dir, "lang": b.name}, "%s is in %s; its README.md says how to go on", name, dir)
}

// writeSchemas puts the JSON Schemas of manifests and of DocTypes beside a plugin, at
// which "$schema" of its files points for an editor.
func writeSchemas(dir string) error {
	doctypes, err := json.MarshalIndent(doctype.JSONSchema(), "", "  ")
	if err != nil {
		return err
	}
	return writeInto(dir, map[string][]byte{
		".armature/manifest.schema.json": abi.ManifestSchema, ".armature/doctype.schema.json": append(doctypes, '\n'),
	})
}

// fill writes templates, without the .tmpl of their names.
func fill(files fs.FS, dir string, data any) error {
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Parse(string(text))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, data); err != nil {
			return err
		}
		return writeInto(dir, map[string][]byte{strings.TrimSuffix(path, ".tmpl"): out.Bytes()})
	})
}

// writeInto writes files, with their folders.
func writeInto(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
