package pluginbuild_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// crates is where Debian puts the sources of Rust's libraries.
const crates = "/usr/share/cargo/registry"

// cargo runs cargo in a folder of a copy of the SDK for Rust, with the libraries
// and the compiler that Debian has and without a network. What it makes it puts into
// target.
func cargo(t *testing.T, target, sdk, dir string, args ...string) {
	t.Helper()
	home := t.TempDir()
	config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + crates + "\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/cargo", append(args, "--offline", "--quiet", "--target-dir", target)...)
	cmd.Dir = filepath.Join(sdk, dir)
	cmd.Env = append(os.Environ(), "CARGO_HOME="+home, "RUSTC=/usr/bin/rustc", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld",
		"CARGO_PROFILE_DEV_DEBUG=0", "CARGO_PROFILE_TEST_DEBUG=0", "CARGO_INCREMENTAL=0") // nobody looks, and it is not built twice
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cargo %v: %v\n%s", args, err, out)
	}
}

// TestRustWithSerde: the crate's own tests, and a plugin on a server whose
// documents, arguments and results are types of its own.
func TestRustWithSerde(t *testing.T) {
	const install = "apt-get install cargo rustc libstd-rust-dev-wasm32 lld librust-serde-json-dev librust-serde+derive-dev"
	armaturetest.Compiler(t, "/usr/bin/cargo", install)
	armaturetest.Compiler(t, "wasm-ld", install)
	if found, _ := filepath.Glob(crates + "/serde_json-*"); len(found) == 0 {
		armaturetest.Compiler(t, "serde_json", install)
	}
	target := armaturetest.Shared(t, "cargo") // serde is compiled once, and not for each run
	sdk := filepath.Join(target, "sdk")       // cargo writes beside what it compiles, and knows it by its path
	if err := os.RemoveAll(sdk); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(sdk, os.DirFS(filepath.Join(armaturetest.Root(t), "sdk", "rust"))); err != nil {
		t.Fatal(err)
	}
	cargo(t, target, sdk, "serde", "test", "--lib")
	task := filepath.Join(sdk, "serde", "testdata", "task")
	// Not --release: what runs on this machine, serde's macros, is compiled already.
	cargo(t, target, sdk, filepath.Join("serde", "testdata", "task"), "build", "--target", "wasm32-unknown-unknown")

	in := armaturetest.New(t)
	file := filepath.Join(t.TempDir(), "task.wasm")
	in.Run("plugin", "build", task, "--module", filepath.Join(target, "wasm32-unknown-unknown", "debug", "task.wasm"), "-o", file)
	in.Run("plugin", "install", file)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	insert := func(fields map[string]any) map[string]any {
		t.Helper()
		return s.Want("POST", "/api/resource/ToDo", fields).(map[string]any)
	}
	first := insert(map[string]any{"description": "urgent: Zoë", "priority": "Low"})
	cancelled := insert(map[string]any{"description": "x", "status": "Cancelled"})
	if first["priority"] != "High" {
		t.Errorf("the event has set %v", first["priority"])
	}
	const method = "/api/method/acme.task."
	got := s.Want("POST", method+"finish", map[string]any{"name": first["name"], "again": "\"once\" more"}).(map[string]any)
	if closed := got["closed"].(map[string]any); closed["status"] != "Closed" || closed["description"] != "urgent: Zoë" {
		t.Errorf("finish: %v", got)
	}
	next := s.Want("GET", "/api/resource/ToDo/"+got["next"].(string), nil).(map[string]any)
	if next["description"] != "\"once\" more" || next["status"] != "Open" {
		t.Errorf("the next one is %v", next)
	}
	if got := s.Want("GET", method+"open", nil).([]any); !slices.Equal(got, []any{next["name"]}) {
		t.Errorf("open: %v", got)
	}
	for _, tt := range []struct {
		args    map[string]any
		status  int
		excType string
	}{
		{map[string]any{"name": cancelled["name"]}, http.StatusExpectationFailed, "CancelledError"},
		{map[string]any{"name": 12}, http.StatusExpectationFailed, "FrameworkTypeError"},
		{map[string]any{}, http.StatusExpectationFailed, "FrameworkTypeError"},
		{map[string]any{"name": "missing"}, http.StatusNotFound, "DoesNotExistError"},
	} {
		if status, answer := s.Call("POST", method+"finish", tt.args); status != tt.status || answer["exc_type"] != tt.excType {
			t.Errorf("%v: %d %v", tt.args, status, answer)
		}
	}
}
