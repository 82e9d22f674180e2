package main_test

import (
	bits "encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/sdk/conformance"
)

// sdk is a language with an SDK: the folder of its conformance guest, or "", the
// folder of its todo example, and whether its compiler is here.
type sdk struct {
	guest, todo string
	toolchain   func(t *testing.T) (path string) // a folder more for PATH, or ""
}

var sdks = []sdk{
	{"go", "todo", func(*testing.T) string { return "" }},
	{"c", "todo-c", func(t *testing.T) string {
		compiler(t, "clang", "apt-get install clang lld")
		compiler(t, "wasm-ld", "apt-get install clang lld")
		return ""
	}},
	{"cpp", "todo-cpp", cppToolchain},
	{"rust", "todo-rust", rustToolchain},
	{"assemblyscript", "todo-assemblyscript", assemblyScriptToolchain},
	{"zig", "todo-zig", zigToolchain},
	{"", "todo-wat", func(t *testing.T) string { // the contract, without an SDK
		compiler(t, "wat2wasm", "apt-get install wabt")
		return ""
	}},
}

// cppToolchain wants clang with the C++ library for WebAssembly, and nlohmann/json.
func cppToolchain(t *testing.T) string {
	t.Helper()
	const install = "apt-get install clang lld libc++-dev-wasm32 libclang-rt-dev-wasm32 nlohmann-json3-dev"
	compiler(t, "wasm-ld", install)
	cmd := exec.Command(compiler(t, "clang++", install), "--target=wasm32-wasi", "-std=c++20", "-E", "-o", os.DevNull, "-x", "c++", "-")
	cmd.Stdin = strings.NewReader("#include <vector>\n#include <nlohmann/json_fwd.hpp>\n")
	if cmd.Run() != nil {
		return compiler(t, "clang++-with-wasm32", install)
	}
	return ""
}

// rustToolchain wants a rustc with the library for WebAssembly: Debian's, where
// another is the first on the path.
func rustToolchain(t *testing.T) string {
	t.Helper()
	const install = "apt-get install rustc libstd-rust-dev-wasm32 lld"
	for _, rustc := range []string{"rustc", "/usr/bin/rustc"} {
		out, err := exec.Command(rustc, "--print", "target-libdir", "--target", "wasm32-unknown-unknown").Output()
		if err != nil {
			continue
		}
		if libs, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libstd-*.rlib")); len(libs) > 0 {
			return ""
		}
	}
	return compiler(t, "rustc-with-wasm32", install)
}

// assemblyScriptToolchain installs the compiler that package-lock.json names.
func assemblyScriptToolchain(t *testing.T) string {
	t.Helper()
	compiler(t, "node", "apt-get install nodejs")
	return packaged(t, "assemblyscript", "asc", "ci")
}

// zigToolchain installs the compiler that package-lock.json names, unless there
// is one.
func zigToolchain(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("zig"); err == nil {
		return ""
	}
	// npm ci would refuse the lock file: one of the packages for other machines
	// that it lists was never published.
	return packaged(t, "zig", "zig", "install", "--no-save", "--omit-lockfile-registry-resolved")
}

// packaged installs the compiler of an SDK by npm, beside it, and returns where
// the commands are.
func packaged(t *testing.T, sdk, command string, how ...string) string {
	t.Helper()
	npm := compiler(t, "npm", "apt-get install npm")
	dir := filepath.Join(root(t), "sdk", sdk)
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, command)); err == nil {
		return bin
	}
	cmd := exec.Command(npm, append(how, "--ignore-scripts", "--no-audit", "--no-fund")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("npm: %v\n%s", err, out)
		}
		t.Skipf("npm: %v\n%s", err, out)
	}
	return bin
}

// finding adds a folder to the PATH of the commands of an installation.
func (in *installation) finding(folder string) *installation {
	if folder != "" {
		in.t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return in
}

// TestConformance: the guest of every language passes every case.
func TestConformance(t *testing.T) {
	for _, l := range sdks {
		if l.guest == "" {
			continue
		}
		t.Run(l.guest, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir()}).finding(l.toolchain(t))
			out, stderr, err := in.try("", "plugin", "conformance", "--json", filepath.Join(root(t), "sdk", "conformance", "guests", l.guest))
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, stderr)
			}
			var report struct{ Passed, Failed int }
			if err := json.Unmarshal([]byte(out), &report); err != nil || report.Failed != 0 || report.Passed < 32 {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// TestSDKs runs the tests of the SDKs themselves, which are plugins' tests.
func TestSDKs(t *testing.T) {
	for lang, toolchain := range map[string]func(*testing.T) string{
		"assemblyscript": assemblyScriptToolchain, "c": clang, "cpp": cppToolchain, "rust": rustToolchain, "zig": zigToolchain,
	} {
		t.Run(lang, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir()}).finding(toolchain(t))
			if out, stderr, err := in.try("", "plugin", "test", filepath.Join(root(t), "sdk", lang, "testdata")); err != nil {
				t.Errorf("%v\n%s\n%s", err, out, stderr)
			}
		})
	}
}

// TestConformanceFails: a guest whose exports do nothing fails, case by case, and
// so does the command; one that cannot be loaded fails the first case only.
func TestConformanceFails(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	dir := t.TempDir()
	var m struct {
		Methods []struct{ Export string }
		Events  map[string]struct{ Export string }
	}
	if err := json.Unmarshal(conformance.Manifest, &m); err != nil {
		t.Fatal(err)
	}
	var exports []string
	for _, method := range m.Methods {
		exports = append(exports, method.Export)
	}
	for _, event := range m.Events {
		exports = append(exports, event.Export)
	}
	for _, tt := range []struct {
		name         string
		exports      []string
		want, wanted string
	}{
		{"idle", exports, "pass  load", "FAIL  echo"},
		{"bare", nil, "FAIL  load", "echo"}, // in the reason
	} {
		file := filepath.Join(dir, tt.name+".wasm")
		if err := os.WriteFile(file, idle(tt.exports), 0o600); err != nil {
			t.Fatal(err)
		}
		out, stderr, err := in.try("", "plugin", "conformance", file)
		if err == nil || !strings.Contains(out, tt.want) || !strings.Contains(out, tt.wanted) ||
			strings.Count(out, "\npass ") > 3 || !strings.Contains(stderr, "cases fail") {
			t.Errorf("%s: %v\n%s\n%s", tt.name, err, out, stderr)
		}
	}
}

// idle is a module whose exports return at once.
func idle(exports []string) []byte {
	section := func(id byte, content []byte) []byte {
		return append(bits.AppendUvarint([]byte{id}, uint64(len(content))), content...)
	}
	names := bits.AppendUvarint(nil, uint64(len(exports)+1))
	for _, name := range append([]string{"memory"}, exports...) {
		names = append(bits.AppendUvarint(names, uint64(len(name))), name...)
		kind := byte(0) // function 0
		if name == "memory" {
			kind = 2
		}
		names = append(names, kind, 0)
	}
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{1, 0x60, 1, 0x7f, 0}), // (i32) -> ()
		section(3, []byte{1, 0}),
		section(5, []byte{1, 0, 1}),
		section(7, names),
		section(10, []byte{1, 2, 0, 0x0b}))
}
