package engine_test

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/runtime/engine"
)

// BenchmarkIdleInstance reports what an instance costs in memory after it has
// served a call, and after it has been idle for a while: the growth of the process's proportional set for each of 64.
func BenchmarkIdleInstance(b *testing.B) {
	for _, guest := range []string{"text", "c", "go"} {
		b.Run(guest, func(b *testing.B) {
			const instances = 64
			for b.Loop() {
				release := make(chan struct{})
				var ready, done sync.WaitGroup
				e := newEngine(b, engine.Config{IdleTrim: time.Second})
				m := load(b, e, guestBinary(b, guest))
				before := proportional(b)
				for range instances {
					ready.Add(1)
					done.Go(func() {
						// The call's output holds the instance until all have one.
						held := false
						x := &exchange{in: request}
						x.wait = func() {
							if !held {
								held = true
								ready.Done()
								<-release
							}
						}
						if _, err := m.Call(b.Context(), &engine.Call{Export: "echo", Arg: int32(len(request)), State: x}); err != nil {
							b.Error(err)
						}
					})
				}
				ready.Wait()
				close(release)
				done.Wait()
				b.ReportMetric(float64(proportional(b)-before)/instances, "KiB/used")
				e.Sweep(time.Minute)
				b.ReportMetric(float64(proportional(b)-before)/instances, "KiB/idle")
			}
		})
	}
}

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
