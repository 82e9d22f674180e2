package engine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"armature/runtime/engine"
)

// cGuest is the guest in testdata/cguest, built once per run of the tests.
var cGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "cguest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("clang", "--target=wasm32-unknown-unknown", "-nostdlib", "-ffreestanding", "-O2", "-Wall", "-Werror",
		"-Wl,--no-entry", "-o", out, "testdata/cguest/guest.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(text), Err: err}
	}
	return os.ReadFile(out)
})

// mustCGuest skips a test where no compiler for C guests is installed, unless
// it is the machine that has to have one.
func mustCGuest(tb testing.TB) []byte {
	tb.Helper()
	for _, tool := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			tb.Fatalf("%s is not installed (packages clang and lld)", tool)
		}
		tb.Skip("no C guest without clang and wasm-ld")
	}
	b, err := cGuest()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// A compiler's output keeps a stack in memory and a pointer to it in a global.
// A call that fails leaves both where they were; the next one finds them new.
func TestCGuestIsPristine(t *testing.T) {
	wasm := mustCGuest(t)
	tests := []struct {
		export string
		arg    int32
		limits engine.Limits
		reason engine.Reason // none: the call succeeds
	}{
		{export: "echo", arg: int32(len(request))},
		{export: "sieve"},
		{export: "grow", arg: 20},
		{export: "recurse", arg: 500, reason: engine.Trap},
		{export: "recurse", arg: 1 << 30, reason: engine.Trap}, // its stack runs over its data and out of memory
		{export: "recurse", arg: 1 << 30, limits: engine.Limits{Depth: 50}, reason: engine.TooDeep},
		{export: "scribble", arg: 0xa5, reason: engine.Aborted},
		{export: "lie", reason: engine.BadPointer},
		{export: "spin", limits: engine.Limits{Fuel: 1_500_000}, reason: engine.OutOfFuel},
	}
	eachMemory(t, func(t *testing.T, memory string) {
		m := load(t, newEngine(t, engine.Config{Memory: memory}), wasm)
		if ok, reason := m.Pristine(); !ok {
			t.Fatal(reason)
		}
		rounds := 300
		if memory != "scan" {
			rounds = 30
		}
		for i := range rounds {
			for _, test := range tests {
				x := &exchange{in: request}
				_, err := m.Call(t.Context(), &engine.Call{Export: test.export, Arg: test.arg, Limits: test.limits, State: x})
				var e *engine.Error
				if errors.As(err, &e) && e.Reason == test.reason || err == nil && test.reason == 0 {
					continue
				}
				t.Fatalf("round %d, %s: %v", i, test.export, err)
			}
			if n := engine.Pristine(t, m); n != 1 {
				t.Fatalf("%d instances are idle; want one", n)
			}
			if n := number(t, m, "count", 0); n != 1 {
				t.Fatalf("round %d counts %d", i, n)
			}
		}
	})
}
