package engine_test

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"armature/runtime/engine"
)

// BenchmarkOnDemand is driven by another program, runtime/peers, which compares
// us with others and so decides when it is whose turn. For each line on its
// input, a number, it makes that many calls of echo and prints how many
// nanoseconds they took, how many bytes of Go's heap they allocated, and the
// last answer.
func BenchmarkOnDemand(b *testing.B) {
	for _, guest := range []string{"c", "go"} {
		arg := int32(len(request))
		b.Run(guest+"/ours", func(b *testing.B) {
			x := &exchange{in: request}
			m := load(b, newEngine(b, engine.Config{}), guestBinary(b, guest))
			onDemand(b, runner(b, m, "echo", arg, x), x)
		})
		b.Run(guest+"/bare", func(b *testing.B) {
			x := &exchange{in: request}
			onDemand(b, bareRunner(b, guestBinary(b, guest), "echo", arg, x), x)
		})
	}
}

func onDemand(b *testing.B, run func() error, x *exchange) {
	lines := bufio.NewScanner(os.Stdin)
	if !lines.Scan() {
		b.Skip("nobody drives this")
	}
	for more := true; more; more = lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			b.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took := batch(b, n, run)
		runtime.ReadMemStats(&after)
		fmt.Printf("\ntook %d %d %q\n", took.Nanoseconds(), after.TotalAlloc-before.TotalAlloc, x.out)
	}
}
