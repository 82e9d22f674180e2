package quickjs_test

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
	"armature/runtime/quickjs"
)

// BenchmarkIdleInstance reports what an instance of a script costs in memory after
// it has served a call, and after it has been idle for a while.
func BenchmarkIdleInstance(b *testing.B) {
	const instances = 64
	imports := hostapi.Imports(hostapi.Config{})
	e, err := engine.New(b.Context(), engine.Config{
		Imports: imports, Interpreters: []engine.Interpreter{quickjs.New(imports)}, IdleTrim: 500 * time.Millisecond,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	for b.Loop() {
		m, err := e.Load(b.Context(), shell(b, work(b)+"\nexport function held(args) { kv.get('k'); return work(args) }", "held"))
		if err != nil {
			b.Fatal(err)
		}
		before := proportional(b)
		gate := &gate{release: make(chan struct{})}
		var done sync.WaitGroup
		for range instances {
			gate.ready.Add(1)
			done.Go(func() {
				plugin := &hostapi.Plugin{Site: "one", Name: "t.script", Limits: hostapi.DefaultLimits, Grants: hostapi.Grant("kv_get"), KV: gate}
				st := hostapi.New(plugin, &method.Call{Verb: "POST", Caller: identity.Root()}, []byte(request))
				defer st.Free()
				if _, err := st.Run(b.Context(), m, "held", engine.Limits{Wall: time.Minute}); err != nil {
					b.Error(err)
				}
			})
		}
		gate.ready.Wait()
		close(gate.release)
		done.Wait()
		b.ReportMetric(float64(proportional(b)-before)/instances, "KiB/used")
		time.Sleep(2 * time.Second)
		b.ReportMetric(float64(proportional(b)-before)/instances, "KiB/idle")
		m.Release()
	}
}

// gate keeps calls until all are there.
type gate struct {
	ready   sync.WaitGroup
	release chan struct{}
}

func (g *gate) Begin(string) hostapi.KVRun { return g }

func (g *gate) Get(string) ([]byte, bool) {
	g.ready.Done()
	<-g.release
	return nil, false
}

func (*gate) Keep() {}

func (*gate) Set(string, []byte, time.Duration) error { return nil }
func (*gate) Delete(string)                           {}

// proportional is the process's proportional set size in KiB.
func proportional(b *testing.B) int {
	debug.FreeOSMemory()
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(rollup)) {
		if fields := strings.Fields(line); fields[0] == "Pss:" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Skip("no Pss here")
	return 0
}
