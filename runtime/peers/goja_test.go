package peers_test

import (
	_ "embed"
	"testing"

	"github.com/dop251/goja"
)

//go:embed testdata/echo.js
var gojaGuest string

// gojaPeer is a JavaScript engine written in Go that serves call after call.
// Requests and answers are made from and into bytes, since that is what the
// other peers get and give.
func gojaPeer(tb testing.TB) runner {
	vm := goja.New()
	doc := func(call goja.FunctionCall) goja.Value {
		_ = call.Argument(0).String()
		return vm.ToValue(string(document))
	}
	if err := vm.Set("doc", doc); err != nil {
		tb.Fatal(err)
	}
	if _, err := vm.RunString(gojaGuest); err != nil {
		tb.Fatal(err)
	}
	echo, ok := goja.AssertFunction(vm.Get("echo"))
	if !ok {
		tb.Fatal("the script has no function echo")
	}
	return inProcess(func() ([]byte, error) {
		v, err := echo(goja.Undefined(), vm.ToValue(string(request)))
		if err != nil {
			return nil, err
		}
		return []byte(v.String()), nil
	})
}
