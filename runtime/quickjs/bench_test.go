package quickjs_test

import (
	"context"
	"testing"

	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// BenchmarkCall measures calls that do nothing, and work with JSON, each from the
// state of the snapshot and within all limits.
func BenchmarkCall(b *testing.B) {
	m := script(b, work, "nothing", "json")
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

// work is what peers/testdata/work.js does in other engines.
const work = `
export function nothing() {}
export function json(args) {
  const rows = args.items.map((item) => ({ ...item, amount: item.qty * item.rate, note: item.code.toUpperCase() }));
  const total = rows.reduce((sum, row) => sum + row.amount, 0);
  const text = JSON.stringify({ ...args, items: rows, total });
  const again = JSON.parse(text);
  return { name: again.name, total: again.total, items: again.items.filter((row) => row.qty > 2) };
}
`

const request = `{"name":"SINV-00042","customer":"Acme","remarks":"lorem ipsum dolor sit amet","items":[` +
	`{"code":"a-1","qty":1,"rate":12.5},{"code":"b-2","qty":2,"rate":7.25},{"code":"c-3","qty":3,"rate":99},` +
	`{"code":"d-4","qty":4,"rate":0.5},{"code":"e-5","qty":5,"rate":31.75},{"code":"f-6","qty":6,"rate":2}]}`
