package quickjs_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// BenchmarkCall measures calls that do nothing, and work with JSON, each from the
// state of the snapshot and within all limits.
func BenchmarkCall(b *testing.B) {
	m := script(b, work(b), "nothing", "json")
	for _, export := range []string{"nothing", "json"} {
		b.Run(export, func(b *testing.B) {
			plugin := &hostapi.Plugin{Site: "one", Name: "t.script", Limits: hostapi.DefaultLimits}
			caller := identity.Root()
			var usage engine.Usage
			b.ReportAllocs()
			for b.Loop() {
				st := hostapi.New(plugin, &method.Call{Verb: "POST", Caller: caller}, []byte(request))
				var err error
				if usage, err = st.Run(context.Background(), m, export, engine.Limits{}); err != nil {
					b.Fatal(err)
				}
				st.Free()
			}
			b.ReportMetric(float64(usage.Fuel), "fuel/call")
			b.ReportMetric(float64(usage.ResetPages), "pages/call")
			b.ReportMetric(float64(usage.HostCalls), "hostcalls/call")
		})
	}
}

// work is the script that runtime/peers runs in other engines.
func work(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("testdata/work.js")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text) + "export function nothing() {}\nexport { work as json }\n"
}

const request = `{"name":"SINV-00042","customer":"Acme","remarks":"lorem ipsum dolor sit amet","items":[` +
	`{"code":"a-1","qty":1,"rate":12.5},{"code":"b-2","qty":2,"rate":7.25},{"code":"c-3","qty":3,"rate":99},` +
	`{"code":"d-4","qty":4,"rate":0.5},{"code":"e-5","qty":5,"rate":31.75},{"code":"f-6","qty":6,"rate":2}]}`

// BenchmarkOnDemand is driven by runtime/peers as that of runtime/engine is: for
// each number on its input it makes that many calls and prints what they took.
func BenchmarkOnDemand(b *testing.B) {
	lines := bufio.NewScanner(os.Stdin)
	if !lines.Scan() {
		b.Skip("nobody drives this")
	}
	m := script(b, work(b), "json")
	plugin := &hostapi.Plugin{Site: "one", Name: "t.script", Limits: hostapi.DefaultLimits}
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
			st := hostapi.New(plugin, &method.Call{Verb: "POST", Caller: caller}, []byte(request))
			if _, err := st.Run(context.Background(), m, "json", engine.Limits{}); err != nil {
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
