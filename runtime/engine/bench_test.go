package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"armature/runtime/engine"
)

// work is what both benchmarks call.
var work = []struct {
	guest, export string
	arg           int32
}{
	{"text", "nothing", 0}, {"text", "echo", int32(len(request))}, {"text", "loop", 100_000},
	{"text", "sieve", 0}, {"text", "fib", 20},
	{"go", "count", 0}, {"go", "echo", int32(len(request))}, {"go", "json", int32(len(request))}, {"go", "loop", 100_000},
}

func guestBinary(tb testing.TB, name string) []byte {
	if name == "go" {
		return mustGoGuest(tb)
	}
	return mustGuest(tb, "echo")
}

// BenchmarkCall is a call with every protection on, from a pristine state.
func BenchmarkCall(b *testing.B) {
	e := newEngine(b, engine.Config{})
	for _, w := range work {
		b.Run(w.guest+"/"+w.export, func(b *testing.B) {
			m := load(b, e, guestBinary(b, w.guest))
			x := &exchange{in: request}
			ctx := b.Context()
			var c engine.Call
			var usage engine.Usage
			b.ReportAllocs()
			for b.Loop() {
				c = engine.Call{Export: w.export, Arg: w.arg, State: x}
				var err error
				if usage, err = m.Call(ctx, &c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(usage.Fuel), "fuel/op")
			b.ReportMetric(float64(usage.ResetPages), "pages/op")
		})
	}
}

// BenchmarkBare is the same on the bare runtime: one instance, reused as it is,
// without limits.
func BenchmarkBare(b *testing.B) {
	for _, w := range work {
		b.Run(w.guest+"/"+w.export, func(b *testing.B) {
			f := bare(b, guestBinary(b, w.guest), w.export)
			ctx := b.Context()
			stack := make([]uint64, 1)
			b.ReportAllocs()
			for b.Loop() {
				stack[0] = uint64(w.arg)
				if err := f.CallWithStack(ctx, stack); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRatio runs both in turn, so that whatever else the machine does hits
// both, and reports the ratio of the best batches.
func BenchmarkRatio(b *testing.B) {
	e := newEngine(b, engine.Config{})
	for _, w := range work {
		b.Run(w.guest+"/"+w.export, func(b *testing.B) {
			m := load(b, e, guestBinary(b, w.guest))
			f := bare(b, guestBinary(b, w.guest), w.export)
			x := &exchange{in: request}
			ctx := b.Context()
			stack := make([]uint64, 1)
			var c engine.Call
			ours := func() error {
				c = engine.Call{Export: w.export, Arg: w.arg, State: x}
				_, err := m.Call(ctx, &c)
				return err
			}
			theirs := func() error {
				stack[0] = uint64(w.arg)
				return f.CallWithStack(ctx, stack)
			}
			const batches = 50
			n := 1 + int(2*time.Millisecond/batch(b, 1, ours))
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for range batches {
					best[0] = min(best[0], batch(b, n, ours))
					best[1] = min(best[1], batch(b, n, theirs))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best[0])/float64(n), "ours-ns")
			b.ReportMetric(float64(best[1])/float64(n), "bare-ns")
			b.ReportMetric(float64(best[0])/float64(best[1]), "x-bare")
		})
	}
}

// batch is how long n runs take.
func batch(b *testing.B, n int, run func() error) time.Duration {
	began := time.Now()
	for range n {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// BenchmarkParallel shows how calls scale with cores: run it with -cpu 1,2,4.
func BenchmarkParallel(b *testing.B) {
	e := newEngine(b, engine.Config{})
	for _, guest := range []string{"text", "go"} {
		b.Run(guest+"/echo", func(b *testing.B) {
			m := load(b, e, guestBinary(b, guest))
			ctx := b.Context()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				x := &exchange{in: request}
				var c engine.Call
				for pb.Next() {
					c = engine.Call{Export: "echo", Arg: int32(len(request)), State: x}
					if _, err := m.Call(ctx, &c); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkLoad compares compiling with loading from the disk cache.
func BenchmarkLoad(b *testing.B) {
	for _, guest := range []string{"text", "go"} {
		wasm := guestBinary(b, guest)
		load := func(b *testing.B, dir func(b *testing.B) string) {
			for b.Loop() {
				b.StopTimer()
				e, err := engine.New(b.Context(), engine.Config{Imports: hostImports(), CacheDir: dir(b)})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				m, err := e.Load(b.Context(), wasm)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				m.Release()
				_ = e.Close(b.Context())
				b.StartTimer()
			}
		}
		b.Run(guest+"/compile", func(b *testing.B) { load(b, func(b *testing.B) string { return b.TempDir() }) })
		b.Run(guest+"/cached", func(b *testing.B) {
			dir := b.TempDir()
			e, err := engine.New(b.Context(), engine.Config{Imports: hostImports(), CacheDir: dir})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Load(b.Context(), wasm); err != nil {
				b.Fatal(err)
			}
			load(b, func(*testing.B) string { return dir })
		})
	}
}

// bare instantiates a guest on the bare runtime with the same host functions.
func bare(b *testing.B, wasm []byte, export string) api.Function {
	b.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { _ = rt.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	i32 := api.ValueTypeI32
	var out []byte
	builder := rt.NewHostModuleBuilder("host")
	define := func(name string, params, results int, fn api.GoModuleFunc) {
		types := []api.ValueType{i32, i32, i32, i32}
		builder.NewFunctionBuilder().WithGoModuleFunction(fn, types[:params], types[:results]).Export(name)
	}
	define("input", 2, 1, func(_ context.Context, m api.Module, s []uint64) {
		m.Memory().Write(uint32(s[0]), request[:min(len(request), int(uint32(s[1])))])
		s[0] = uint64(len(request))
	})
	define("output", 2, 0, func(_ context.Context, m api.Module, s []uint64) {
		p, _ := m.Memory().Read(uint32(s[0]), uint32(s[1]))
		out = append(out[:0], p...)
	})
	define("doc", 4, 1, func(_ context.Context, m api.Module, s []uint64) {
		m.Memory().Read(uint32(s[0]), uint32(s[1]))
		m.Memory().Write(uint32(s[2]), document[:min(len(document), int(uint32(s[3])))])
		s[0] = uint64(len(document))
	})
	if _, err := builder.Instantiate(ctx); err != nil {
		b.Fatal(err)
	}
	mod, err := rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	return mod.ExportedFunction(export)
}
