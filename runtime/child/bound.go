package child

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// watch is how often a child looks at its memory: the compilers that run here take
// some hundred MiB a second.
const watch = 20 * time.Millisecond

// Bound bounds the process it runs in, for good, or leaves stricter limits that it
// has. It is for a process that Command has made.
//
// Where the system can bound processor time and memory, it does, and ends a process
// that goes over. Everywhere the process watches its memory by itself, which says what
// was wrong instead of ending in the middle of something; one goroutine does, for as
// long as the process lives.
func Bound(l Limits) error {
	if l.Stack > 0 {
		debug.SetMaxStack(l.Stack)
	}
	if err := l.bound(); err != nil {
		return err
	}
	if l.Memory > 0 {
		go watchMemory(l.Memory)
	}
	return nil
}

// watchMemory ends the process when it has more memory than it may.
func watchMemory(most uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(samples)
		if samples[0].Value.Uint64()-samples[1].Value.Uint64() > most {
			os.Exit(exitMemory)
		}
		time.Sleep(watch)
	}
}
