package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"armature/core/fault"
	"armature/runtime/engine"
)

// goGuest is the guest in testdata/goguest, built once per run of the tests.
var goGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "goguest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "./testdata/goguest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(text), Err: err}
	}
	return os.ReadFile(out)
})

func mustGoGuest(tb testing.TB) []byte {
	tb.Helper()
	b, err := goGuest()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var document = []byte(`{"name":"SINV-00042","doctype":"Sales Invoice","customer":"Acme","total":649.75,"remarks":"` +
	strings.Repeat("lorem ipsum ", 33) + `"}`)

var request = []byte(`{"name":"SINV-00042","qty":5,"filters":{"status":"Unpaid"},"note":"a request of about a 100 bytes"}`)

// exchange is what the test host functions keep about a call.
type exchange struct {
	in, out []byte
	wait    func() // runs in output, if set
}

// hostImports are the test host: input, output, doc, throw.
func hostImports() []engine.Import {
	i32 := engine.I32
	return []engine.Import{
		{Module: "host", Name: "input", Params: []engine.ValueType{i32, i32}, Results: []engine.ValueType{i32},
			Fn: func(c *engine.Call, s []uint64) {
				in := c.State.(*exchange).in
				c.Write(uint32(s[0]), in[:min(len(in), int(uint32(s[1])))])
				s[0] = uint64(len(in))
			}},
		{Module: "host", Name: "output", Params: []engine.ValueType{i32, i32},
			Fn: func(c *engine.Call, s []uint64) {
				x := c.State.(*exchange)
				x.out = append(x.out[:0], c.Read(uint32(s[0]), uint32(s[1]))...)
				if x.wait != nil {
					x.wait()
				}
			}},
		{Module: "host", Name: "doc", Params: []engine.ValueType{i32, i32, i32, i32}, Results: []engine.ValueType{i32},
			Fn: func(c *engine.Call, s []uint64) {
				c.Read(uint32(s[0]), uint32(s[1]))
				c.Write(uint32(s[2]), document[:min(len(document), int(uint32(s[3])))])
				s[0] = uint64(len(document))
			}},
		{Module: "host", Name: "throw", Params: []engine.ValueType{i32},
			Fn: func(c *engine.Call, s []uint64) {
				c.Abort(fault.Wrap(fault.Conflict, "", thrown(uint32(s[0])), "thrown by the guest"))
			}},
	}
}

// thrown is the error of the throw host function.
type thrown uint32

func (thrown) Error() string { return "thrown by the guest" }

func newEngine(tb testing.TB, cfg engine.Config) *engine.Engine {
	tb.Helper()
	cfg.Imports = append(cfg.Imports, hostImports()...)
	if cfg.CacheDir == "" {
		cfg.CacheDir = cacheDir
	}
	e, err := engine.New(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func load(tb testing.TB, e *engine.Engine, wasm []byte) *engine.Module {
	tb.Helper()
	m, err := e.Load(tb.Context(), wasm)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.Release)
	return m
}
