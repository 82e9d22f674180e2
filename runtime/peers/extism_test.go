package peers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
)

func cExtism(tb testing.TB) []byte  { return buildC(tb, "extism.c") }
func goExtism(tb testing.TB) []byte { return buildGo(tb, "./extismguest") }

// extismPeer is a plugin of the Extism SDK that serves call after call. With a
// time limit, wazero checks in every loop whether it is over.
func extismPeer(guest func(testing.TB) []byte, limit time.Duration) func(testing.TB) runner {
	return func(tb testing.TB) runner {
		ctx := context.Background()
		i64 := extism.ValueTypeI64
		doc := extism.NewHostFunctionWithStack("doc", func(_ context.Context, p *extism.CurrentPlugin, stack []uint64) {
			if _, err := p.ReadBytes(stack[0]); err != nil {
				panic(err)
			}
			at, err := p.WriteBytes(document)
			if err != nil {
				panic(err)
			}
			stack[0] = at
		}, []extism.ValueType{i64}, []extism.ValueType{i64})
		plugin, err := extism.NewPlugin(ctx, extism.Manifest{
			Wasm:    []extism.Wasm{extism.WasmData{Data: guest(tb)}},
			Timeout: uint64(limit.Milliseconds()),
		}, extism.PluginConfig{EnableWasi: true}, []extism.HostFunction{doc})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := plugin.Close(ctx); err != nil {
				tb.Error(err)
			}
		})
		return inProcess(func() ([]byte, error) {
			code, out, err := plugin.CallWithContext(ctx, "echo", request)
			if err == nil && code != 0 {
				err = fmt.Errorf("exit code %d", code)
			}
			return out, err
		})
	}
}
