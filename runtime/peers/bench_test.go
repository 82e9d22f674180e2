package peers_test

import (
	"fmt"
	"io"
	"os"
	"testing"
	"text/tabwriter"
	"time"
)

// turn is long enough for a peer that makes garbage to pay for collecting it.
const turn = 20 * time.Millisecond

// BenchmarkPeers lets everybody run in turn, so that whatever else the machine
// does hits all, and prints a table of the best turns and of all of them.
func BenchmarkPeers(b *testing.B) { inTurn(b, peers) }

// BenchmarkExtism is the same for plugins that are built for Extism.
func BenchmarkExtism(b *testing.B) { inTurn(b, extismPeers) }

func inTurn(b *testing.B, peers []peer) {
	entries := make([]*entry, len(peers))
	for i, p := range peers {
		e := &entry{peer: p, run: p.start(b), n: 1}
		for { // warm up, and find how many calls fill a turn
			took := e.run(b, e.n).took
			if took >= turn {
				break
			}
			e.n *= 2
		}
		entries[i] = e
	}
	rounds := 0
	for b.Loop() {
		for range 10 {
			rounds++
			for _, e := range entries {
				e.add(e.run(b, e.n))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(rounds), "rounds")
	table(os.Stdout, entries)
}

// entry is a row of the table.
type entry struct {
	peer
	run   runner
	n     int           // calls in a turn
	best  time.Duration // of a turn
	all   time.Duration // of all turns
	turns int
	bytes uint64 // allocated in the last turn
}

func (e *entry) add(m measured) {
	if e.turns == 0 || m.took < e.best {
		e.best = m.took
	}
	e.all += m.took
	e.turns++
	e.bytes = m.allocated
}

// perCall is the time of a call in the best turn and on average, in nanoseconds.
func (e *entry) perCall() (best, mean float64) {
	return float64(e.best) / float64(e.n), float64(e.all) / float64(e.turns*e.n)
}

func table(w io.Writer, entries []*entry) {
	ours := map[string]*entry{}
	for _, e := range entries {
		if _, found := ours[e.language]; !found {
			ours[e.language] = e
		}
	}
	if c := ours["C"]; c != nil {
		ours["JavaScript"] = c
	}
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintf(t, "\n\t host\t guest\t ns, best\t x ours\t ns, mean\t x ours\t bytes allocated\t\n")
	fmt.Fprintf(t, "\t---\t---\t---:\t---:\t---:\t---:\t---:\t\n")
	for _, e := range entries {
		best, mean := e.perCall()
		ourBest, ourMean := ours[e.language].perCall()
		fmt.Fprintf(t, "\t %s\t %s\t %.0f\t %.2f\t %.0f\t %.2f\t %d\t\n",
			e.name, e.language, best, best/ourBest, mean, mean/ourMean, e.bytes/uint64(e.n))
	}
	_ = t.Flush()
}
