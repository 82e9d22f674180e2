package extism_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/extism"
	"armature/runtime/hostapi"
)

// BenchmarkOnDemand is driven by runtime/peers as that of runtime/engine is: it
// runs the echo of the plugin that the variable names, as often as each number on
// its input says, and prints what that took. The plugin asks for doc, as it does of
// Extism's own SDK.
func BenchmarkOnDemand(b *testing.B) {
	lines := bufio.NewScanner(os.Stdin)
	if os.Getenv("ARMATURE_EXTISM_GUEST") == "" || !lines.Scan() {
		b.Skip("nobody drives this")
	}
	wasm, err := os.ReadFile(os.Getenv("ARMATURE_EXTISM_GUEST"))
	if err != nil {
		b.Fatal(err)
	}
	imports := append(hostapi.Imports(hostapi.Config{}), extism.Doc(document))
	e, err := engine.New(b.Context(), engine.Config{Imports: imports, Dialects: []engine.Dialect{extism.New(nil)}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	m, err := e.Load(b.Context(), wasm)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Release()
	plugin := &hostapi.Plugin{Site: "one", Name: "t.extism", Limits: hostapi.DefaultLimits}
	caller := identity.Root()
	for more := true; more; more = lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			b.Fatal(err)
		}
		var out []byte
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		for range n {
			st := hostapi.New(plugin, &method.Call{Verb: "POST", Caller: caller}, request)
			if _, err := st.Run(context.Background(), m, "echo", engine.Limits{}); err != nil {
				b.Fatal(err)
			}
			out = st.Output()
			st.Free()
		}
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		fmt.Printf("\ntook %d %d %q\n", took.Nanoseconds(), after.TotalAlloc-before.TotalAlloc, out)
	}
}

// request and document are those of runtime/engine's own benchmarks.
var (
	request  = []byte(`{"name":"SINV-00042","qty":5,"filters":{"status":"Unpaid"},"note":"a request of about a 100 bytes"}`)
	document = []byte(`{"name":"SINV-00042","doctype":"Sales Invoice","customer":"Acme","total":649.75,"remarks":"` +
		strings.Repeat("lorem ipsum ", 33) + `"}`)
)
