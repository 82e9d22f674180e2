package peers_test

import (
	"os"
	"testing"

	"github.com/dop251/goja"
)

// scripts run the work of runtime/quickjs/testdata/work.js.
var scripts = []peer{
	{"armature", "JavaScript", func(tb testing.TB) runner {
		return driven(tb, quickjsTest, quickjsDir, "^BenchmarkOnDemand$")
	}},
	{"goja, reused", "JavaScript", gojaWork},
}

// invoice is the request of runtime/quickjs's own benchmarks.
const invoice = `{"name":"SINV-00042","customer":"Acme","remarks":"lorem ipsum dolor sit amet","items":[` +
	`{"code":"a-1","qty":1,"rate":12.5},{"code":"b-2","qty":2,"rate":7.25},{"code":"c-3","qty":3,"rate":99},` +
	`{"code":"d-4","qty":4,"rate":0.5},{"code":"e-5","qty":5,"rate":31.75},{"code":"f-6","qty":6,"rate":2}]}`

func gojaWork(tb testing.TB) runner {
	text, err := os.ReadFile(quickjsDir + "/testdata/work.js")
	if err != nil {
		tb.Fatal(err)
	}
	vm := goja.New()
	if _, err := vm.RunString(string(text) + "function fromText(text) { return JSON.stringify(work(JSON.parse(text))) }"); err != nil {
		tb.Fatal(err)
	}
	work, ok := goja.AssertFunction(vm.Get("fromText"))
	if !ok {
		tb.Fatal("the script has no function fromText")
	}
	return inProcess(func() ([]byte, error) {
		v, err := work(goja.Undefined(), vm.ToValue(invoice))
		if err != nil {
			return nil, err
		}
		return []byte(v.String()), nil
	})
}

func TestScriptsAnswerTheSame(t *testing.T) {
	ours, theirs := scripts[0].start(t)(t, 2), scripts[1].start(t)(t, 2)
	if ours.answer != theirs.answer || ours.answer == "" {
		t.Errorf("ours answers %q, goja %q", ours.answer, theirs.answer)
	}
}

// BenchmarkScripts is BenchmarkPeers for scripts.
func BenchmarkScripts(b *testing.B) { inTurn(b, scripts) }
