package peers_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// request and document are those of runtime/engine's own benchmarks.
var (
	request  = []byte(`{"name":"SINV-00042","qty":5,"filters":{"status":"Unpaid"},"note":"a request of about a 100 bytes"}`)
	document = []byte(`{"name":"SINV-00042","doctype":"Sales Invoice","customer":"Acme","total":649.75,"remarks":"` +
		strings.Repeat("lorem ipsum ", 33) + `"}`)
	reply = `{"ok":true,"data":` + string(document) + `}`
)

// peer is one way to run the echo guest.
type peer struct {
	name     string
	language string
	start    func(testing.TB) runner
}

// peers in the order of the table. Ours come first: the others are compared
// with the one of ours that runs a guest in the same language.
var peers = []peer{
	{"armature", "C", armature("c/ours")},
	{"armature", "Go", armature("go/ours")},
	{"wazero alone, reused", "C", armature("c/bare")},
	{"wazero alone, reused", "Go", armature("go/bare")},
	{"Extism, reused", "C", extismPeer(cExtism, 0)},
	{"Extism, reused, with its time limit", "C", extismPeer(cExtism, time.Minute)},
	{"Extism, reused", "Go", extismPeer(goExtism, 0)},
	{"Extism, reused, with its time limit", "Go", extismPeer(goExtism, time.Minute)},
	{"waPC, reused", "C", wapcPeer},
	{"goja, reused", "JavaScript", gojaPeer},
}

// extismPeers run the very same plugins, which are built for Extism.
var extismPeers = []peer{
	{"armature", "C", armatureExtism(cExtism)},
	{"armature", "Go", armatureExtism(goExtism)},
	{"Extism, reused", "C", extismPeer(cExtism, 0)},
	{"Extism, reused", "Go", extismPeer(goExtism, 0)},
	{"Extism, reused, with its time limit", "C", extismPeer(cExtism, time.Minute)},
	{"Extism, reused, with its time limit", "Go", extismPeer(goExtism, time.Minute)},
}

// runner makes n calls and says what they cost and what the last one answered.
type runner func(tb testing.TB, n int) measured

type measured struct {
	took      time.Duration
	allocated uint64 // bytes of Go's heap
	answer    string
}

// inProcess is the runner of a peer that is a library.
func inProcess(call func() ([]byte, error)) runner {
	return func(tb testing.TB, n int) measured {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		var answer []byte
		for range n {
			var err error
			if answer, err = call(); err != nil {
				tb.Fatal(err)
			}
		}
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		return measured{took, after.TotalAlloc - before.TotalAlloc, string(answer)}
	}
}

// All peers must have done the same work, or comparing them means nothing.
func TestPeersAnswerTheSame(t *testing.T) {
	for _, p := range append(peers, extismPeers[:2]...) {
		t.Run(fmt.Sprintf("%s, %s", p.name, p.language), func(t *testing.T) {
			run := p.start(t)
			for range 3 {
				if got := run(t, 2); got.answer != reply {
					t.Fatalf("answer %q; want %q", got.answer, reply)
				}
			}
		})
	}
}
