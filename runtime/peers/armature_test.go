package peers_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	engineDir  = "../engine"
	quickjsDir = "../quickjs"
	extismDir  = "../extism"
)

// engineTest is the test program of runtime/engine, built once. Its benchmark
// BenchmarkOnDemand runs guests when told to. A program of its own leaves this
// module without a dependency on ours, whose versions change all the time, and
// still measures the very wazero that is shipped.
var engineTest = testProgram(engineDir)

// quickjsTest is that of runtime/quickjs, which does the same with a script.
var quickjsTest = testProgram(quickjsDir)

// extismTest is that of runtime/extism, which does the same with a plugin for
// Extism.
var extismTest = testProgram(extismDir)

func testProgram(dir string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		program := filepath.Join(programs, filepath.Base(dir)+".test")
		cmd := exec.Command("go", "test", "-c", "-o", program, ".")
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, text)
		}
		return program, nil
	})
}

// programs is a folder for what all tests share.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "peers"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

// armature starts one of the benchmarks below BenchmarkOnDemand.
func armature(name string) func(testing.TB) runner {
	return func(tb testing.TB) runner {
		if strings.HasPrefix(name, "c/") {
			needC(tb)
		}
		return driven(tb, engineTest, engineDir, "^BenchmarkOnDemand$/^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
}

// armatureExtism runs a plugin that is built for Extism.
func armatureExtism(guest func(testing.TB) []byte) func(testing.TB) runner {
	return func(tb testing.TB) runner {
		file := filepath.Join(tb.TempDir(), "plugin.wasm")
		if err := os.WriteFile(file, guest(tb), 0o600); err != nil {
			tb.Fatal(err)
		}
		return driven(tb, extismTest, extismDir, "^BenchmarkOnDemand$", "ARMATURE_EXTISM_GUEST="+file)
	}
}

// driven starts a benchmark of a test program of ours that runs on demand.
func driven(tb testing.TB, build func() (string, error), dir, bench string, env ...string) runner {
	program, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^$", "-test.benchtime", "1x", "-test.bench", bench)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	return onDemand(in, bufio.NewReader(out))
}

func onDemand(in io.Writer, out *bufio.Reader) runner {
	return func(tb testing.TB, n int) measured {
		if _, err := fmt.Fprintln(in, n); err != nil {
			tb.Fatal(err)
		}
		var said strings.Builder
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				tb.Fatalf("%v; the engine's benchmark said:\n%s", err, said.String())
			}
			var ns int64
			var m measured
			if _, err := fmt.Sscanf(line, "took %d %d %q", &ns, &m.allocated, &m.answer); err == nil {
				m.took = time.Duration(ns)
				return m
			}
			said.WriteString(line)
		}
	}
}
