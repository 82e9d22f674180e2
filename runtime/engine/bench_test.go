package engine_test

import (
	"testing"
	"time"

	"armature/runtime/engine"
)

// work is what both benchmarks call.
var work = []struct {
	guest, export string
	arg           int32
}{
	{"text", "nothing", 0}, {"text", "echo", int32(len(request))}, {"text", "loop", 100_000},
	{"text", "sieve", 0}, {"text", "fib", 20},
	{"c", "nothing", 0}, {"c", "echo", int32(len(request))}, {"c", "loop", 100_000}, {"c", "sieve", 0}, {"c", "fib", 20},
	{"go", "count", 0}, {"go", "echo", int32(len(request))}, {"go", "json", int32(len(request))}, {"go", "loop", 100_000},
}

func guestBinary(tb testing.TB, name string) []byte {
	tb.Helper()
	switch name {
	case "go":
		return mustGoGuest(tb)
	case "c":
		return mustCGuest(tb)
	default:
		return mustGuest(tb, "echo")
	}
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
			b.ReportMetric(float64(usage.Fuel)*float64(b.N)/b.Elapsed().Seconds(), "fuel/s")
			b.ReportMetric(float64(usage.ResetPages), "pages/op")
		})
	}
}

// BenchmarkBare is the same on the bare runtime: one instance, reused as it is,
// without limits.
func BenchmarkBare(b *testing.B) {
	for _, w := range work {
		b.Run(w.guest+"/"+w.export, func(b *testing.B) {
			run := bareRunner(b, guestBinary(b, w.guest), w.export, w.arg, &exchange{in: request})
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
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
			ours := runner(b, load(b, e, guestBinary(b, w.guest)), w.export, w.arg, &exchange{in: request})
			theirs := bareRunner(b, guestBinary(b, w.guest), w.export, w.arg, &exchange{in: request})
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

// runner calls an export of a module again and again.
func runner(b *testing.B, m *engine.Module, export string, arg int32, x *exchange) func() error {
	ctx := b.Context()
	var c engine.Call
	return func() error {
		c = engine.Call{Export: export, Arg: arg, State: x}
		_, err := m.Call(ctx, &c)
		return err
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
	for _, guest := range []string{"text", "c", "go"} {
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
	for _, guest := range []string{"text", "c", "go"} {
		load := func(b *testing.B, dir func(b *testing.B) string) {
			wasm := guestBinary(b, guest)
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
			if _, err := e.Load(b.Context(), guestBinary(b, guest)); err != nil {
				b.Fatal(err)
			}
			load(b, func(*testing.B) string { return dir })
		})
	}
}
