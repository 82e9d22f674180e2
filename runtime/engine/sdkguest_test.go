package engine_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// TestSDKGuestsArePristine: after thousands of calls, failing ones included, the
// guests of every language with an SDK equal their snapshot, byte for byte.
func TestSDKGuestsArePristine(t *testing.T) {
	tool := os.Getenv("ARMATURE_TEST_BINARY")
	if tool == "" { // which make test builds once for all
		tool = filepath.Join(t.TempDir(), "armature")
		if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/armature").CombinedOutput(); err != nil {
			t.Fatalf("build the command line: %v\n%s", err, out)
		}
	}
	tests := map[string][]string{ // what each needs
		"todo": {"go"}, "todo-c": {"clang", "wasm-ld"}, "todo-cpp": {"clang++", "wasm-ld"}, "todo-rust": {"rustc", "wasm-ld"}, "todo-assemblyscript": {"npm"}, "todo-zig": {"zig"}, "todo-wat": {"wat2wasm"},
	}
	for example, needs := range tests {
		t.Run(example, func(t *testing.T) {
			wasm, exports := sdkGuest(t, tool, example, needs)
			m := load(t, newEngine(t, engine.Config{Imports: refusing()}), wasm)
			if ok, reason := m.Pristine(); !ok {
				t.Fatal(reason)
			}
			limits := []engine.Limits{{}, {Fuel: 2_000}, {Fuel: 200_000}, {Depth: 3}, {HostCalls: 1}}
			rnd := rand.New(rand.NewPCG(1, 2))
			input := []byte(`{"name": "x", "value": {"a": [1, 2.5, "Zoë"]}, "exc_type": "ValidationError", "message": "no"}`)
			failed := 0
			for i := range 3000 {
				_, err := m.Call(t.Context(), &engine.Call{
					Export: exports[rnd.IntN(len(exports))], Arg: int32(len(input)), Limits: limits[rnd.IntN(len(limits))],
					State: &exchange{in: input},
				})
				var typed *engine.Error
				if err != nil {
					if failed++; !errors.As(err, &typed) && fault.KindOf(err) == fault.Internal {
						t.Fatal(err)
					}
				}
				if i%50 == 0 {
					engine.Pristine(t, m)
				}
			}
			if engine.Pristine(t, m) != 1 {
				t.Error("the one instance is not idle")
			}
			if failed < 300 || failed > 2900 {
				t.Errorf("%d of 3000 calls have failed, where some should fail and some succeed", failed)
			}
		})
	}
}

// sdkGuest builds an example and returns it with the exports of its methods.
func sdkGuest(t *testing.T, tool, example string, needs []string) (wasm []byte, exports []string) {
	t.Helper()
	missing := t.Skip
	if os.Getenv("CI") == "true" {
		missing = t.Fatal
	}
	// Zig, which is large, is shared with other tests where npm has installed it.
	if bin, err := filepath.Abs(filepath.Join("..", "..", "sdk", "zig", "node_modules", ".bin")); err == nil && example == "todo-zig" {
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	for _, name := range needs {
		if _, err := exec.LookPath(name); err != nil {
			missing(name + " is not installed")
		}
	}
	out := filepath.Join(t.TempDir(), "guest.wasm")
	source := filepath.Join("..", "..", "examples", example)
	build := exec.Command(tool, "plugin", "build", source, "-o", out)
	build.Env = os.Environ()
	if example == "todo-assemblyscript" {
		build.Env = append(build.Env, "PATH="+assemblyScript(t, missing)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if text, err := build.CombinedOutput(); err != nil {
		missing(fmt.Sprintf("build %s: %v\n%s", example, err, text))
	}
	var err error
	if wasm, err = os.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(source, "armature.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Methods []struct{ Path, Export string } `json:"methods"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Methods {
		exports = append(exports, cmp.Or(m.Export, m.Path))
	}
	return wasm, exports
}

// assemblyScript installs the compiler in a folder of its own, since other tests
// may be about to install it in the SDK's, and returns where the commands are.
func assemblyScript(t *testing.T, missing func(...any)) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "sdk", "assemblyscript", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		missing(fmt.Sprintf("npm ci: %v\n%s", err, text))
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// refusing are the imports of the ABI with a host that refuses every capability.
func refusing() []engine.Import {
	i32, i64 := engine.I32, engine.I64
	refusal := []byte(`{"exc_type":"PermissionError","message":"no"}`)
	in := func(name string, params, results []engine.ValueType, fn func(c *engine.Call, s []uint64)) engine.Import {
		return engine.Import{Module: abi.Module, Name: name, Params: params, Results: results, Fn: fn}
	}
	all := []engine.Import{
		in(abi.Input, []engine.ValueType{i32, i32}, []engine.ValueType{i32}, func(c *engine.Call, s []uint64) {
			text := c.State.(*exchange).in
			c.Write(uint32(s[0]), text[:min(len(text), int(uint32(s[1])))])
			s[0] = uint64(len(text))
		}),
		in(abi.Output, []engine.ValueType{i32, i32}, nil, func(c *engine.Call, s []uint64) { c.Read(uint32(s[0]), uint32(s[1])) }),
		in(abi.Throw, []engine.ValueType{i32, i32, i32}, nil, func(c *engine.Call, s []uint64) {
			c.Abort(fault.Wrap(fault.Conflict, "", thrown(uint32(s[0])), "thrown by the guest"))
		}),
		in(abi.Take, []engine.ValueType{i32, i32}, []engine.ValueType{i32}, func(c *engine.Call, s []uint64) {
			c.Write(uint32(s[0]), refusal[:min(len(refusal), int(uint32(s[1])))])
			s[0] = uint64(len(refusal))
		}),
		in(abi.Log, []engine.ValueType{i32, i32, i32}, nil, func(c *engine.Call, s []uint64) { c.Read(uint32(s[1]), uint32(s[2])) }),
		in(abi.Now, nil, []engine.ValueType{i64}, func(_ *engine.Call, s []uint64) { s[0] = 1_700_000_000_000_000 }),
		in(abi.Random, []engine.ValueType{i32, i32}, nil, func(c *engine.Call, s []uint64) { c.Write(uint32(s[0]), make([]byte, uint32(s[1]))) }),
	}
	for _, name := range abi.Capabilities() {
		all = append(all, in(name, []engine.ValueType{i32, i32, i32, i32}, []engine.ValueType{i32}, func(c *engine.Call, s []uint64) {
			c.Read(uint32(s[0]), uint32(s[1]))
			refused := -int32(fault.Permission)
			s[0] = uint64(uint32(refused))
		}))
	}
	return all
}
