package engine_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// bareRunner calls an export of a guest on the bare runtime, with the same host
// functions: one instance, used again as the call before left it, without limits.
func bareRunner(b *testing.B, wasm []byte, export string, arg int32, x *exchange) func() error {
	b.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { _ = rt.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	i32 := api.ValueTypeI32
	builder := rt.NewHostModuleBuilder("host")
	define := func(name string, params, results int, fn api.GoModuleFunc) {
		types := []api.ValueType{i32, i32, i32, i32}
		builder.NewFunctionBuilder().WithGoModuleFunction(fn, types[:params], types[:results]).Export(name)
	}
	define("input", 2, 1, func(_ context.Context, m api.Module, s []uint64) {
		m.Memory().Write(uint32(s[0]), x.in[:min(len(x.in), int(uint32(s[1])))])
		s[0] = uint64(len(x.in))
	})
	define("output", 2, 0, func(_ context.Context, m api.Module, s []uint64) {
		p, _ := m.Memory().Read(uint32(s[0]), uint32(s[1]))
		x.out = append(x.out[:0], p...)
	})
	define("doc", 4, 1, func(_ context.Context, m api.Module, s []uint64) {
		m.Memory().Read(uint32(s[0]), uint32(s[1]))
		m.Memory().Write(uint32(s[2]), document[:min(len(document), int(uint32(s[3])))])
		s[0] = uint64(len(document))
	})
	define("throw", 1, 0, func(context.Context, api.Module, []uint64) { panic("thrown by the guest") })
	if _, err := builder.Instantiate(ctx); err != nil {
		b.Fatal(err)
	}
	mod, err := rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	f := mod.ExportedFunction(export)
	stack := make([]uint64, 1)
	return func() error {
		stack[0] = uint64(arg)
		return f.CallWithStack(ctx, stack)
	}
}
