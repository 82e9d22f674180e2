package peers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// needC skips a test where no compiler for C guests is installed, unless it is
// the machine that has to have one.
func needC(tb testing.TB) {
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
}

// buildC builds testdata/name as runtime/engine builds its C guest.
func buildC(tb testing.TB, name string) []byte {
	tb.Helper()
	needC(tb)
	return build(tb, func(out string) *exec.Cmd {
		return exec.Command("clang", "--target=wasm32-unknown-unknown", "-nostdlib", "-ffreestanding", "-O2", "-Wall", "-Werror",
			"-Wl,--no-entry", "-o", out, "testdata/"+name)
	})
}

// buildGo builds a package for WASI, as a library.
func buildGo(tb testing.TB, dir string) []byte {
	tb.Helper()
	return build(tb, func(out string) *exec.Cmd {
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, dir)
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		return cmd
	})
}

func build(tb testing.TB, command func(out string) *exec.Cmd) []byte {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "guest.wasm")
	if text, err := command(out).CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}
