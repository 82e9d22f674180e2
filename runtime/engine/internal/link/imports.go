// Package link puts the functions that guests may import into the WebAssembly runtime:
// those it is given, WASI, and the metering that the rewriter adds.
package link

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"armature/runtime/abi"
	"armature/runtime/engine/internal/call"
	"armature/runtime/internal/rewrite"
)

// Func is a host function in the form the runtime takes.
type Func struct {
	module, name    string
	params, results []call.ValueType
	run             api.GoFunc
}

// Funcs are host functions of those imports.
func Funcs(imports []call.Import) []Func {
	fs := make([]Func, len(imports))
	for i, im := range imports {
		fs[i] = Func{im.Module, im.Name, im.Params, im.Results, im.Func()}
	}
	return fs
}

// Metering defines the function that rewritten guests call when fuel or depth
// is used up.
func Metering(ctx context.Context, rt wazero.Runtime) error {
	return Modules(ctx, rt, []Func{{abi.ReservedPrefix + rewrite.HostModule, rewrite.Yield, nil, nil, call.Yield}})
}

// Modules defines host modules of those functions.
func Modules(ctx context.Context, rt wazero.Runtime, all []Func) error {
	byModule := map[string][]Func{}
	var order []string
	for _, f := range all {
		if byModule[f.module] == nil {
			order = append(order, f.module)
		}
		byModule[f.module] = append(byModule[f.module], f)
	}
	for _, module := range order {
		b := rt.NewHostModuleBuilder(module)
		for _, f := range byModule[module] {
			f.export(b)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("module %s: %w", module, err)
		}
	}
	return nil
}

func (f Func) export(b wazero.HostModuleBuilder) {
	b.NewFunctionBuilder().
		WithGoFunction(f.run, valueTypes(f.params), valueTypes(f.results)).
		WithName(f.name).
		Export(f.name)
}

func valueTypes(ts []call.ValueType) []api.ValueType {
	vs := make([]api.ValueType, len(ts))
	for i, t := range ts {
		vs[i] = api.ValueType(t)
	}
	return vs
}
