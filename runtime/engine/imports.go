package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"armature/runtime/internal/rewrite"
)

// ValueType is the type of a parameter, a result or a global.
type ValueType byte

// The numeric types, as the binary format numbers them.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
	F32 ValueType = 0x7d
	F64 ValueType = 0x7c
)

// String returns the type's name in the text format.
func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	}
	return fmt.Sprintf("type 0x%x", byte(t))
}

// Import is one host function. Fn finds its parameters in the stack, in order,
// and leaves its result in stack[0]. Every call of it counts against
// Limits.HostCalls, unless it is Light: one that reaches nothing but memory and
// costs no more than the fuel of any import.
type Import struct {
	Module, Name    string
	Params, Results []ValueType
	Light           bool
	Fn              func(c *Call, stack []uint64)
}

// instanceKey is the context key under which a running instance is found. The
// instance is its own context, so a call allocates none.
type instanceKey struct{}

func instanceOf(ctx context.Context) *instance {
	if in, ok := ctx.(*instance); ok { // unless the runtime has wrapped it
		return in
	}
	return ctx.Value(instanceKey{}).(*instance)
}

// linkImports defines the host modules: the configured imports and WASI.
func (e *Engine) linkImports(ctx context.Context) error {
	all := append(e.wasi(), e.counted(e.cfg.Imports)...)
	for _, d := range e.cfg.Dialects {
		all = append(all, e.counted(d.Imports())...)
	}
	e.imports = map[ImportName]signature{}
	for _, f := range all {
		e.imports[ImportName{f.module, f.name}] = signature{f.params, f.results}
	}
	if p := e.cfg.Command; p != nil {
		var exit hostFunc
		all = slices.DeleteFunc(all, func(f hostFunc) bool {
			if f.module == wasiModule && f.name == "proc_exit" {
				exit = f
			}
			return f.module == wasiModule
		})
		if err := p.link(ctx, e.rt, exit); err != nil {
			return err
		}
	}
	return e.linkModules(ctx, all)
}

// linkModules defines host modules.
func (e *Engine) linkModules(ctx context.Context, all []hostFunc) error {
	byModule := map[string][]hostFunc{}
	var order []string
	for _, f := range all {
		if byModule[f.module] == nil {
			order = append(order, f.module)
		}
		byModule[f.module] = append(byModule[f.module], f)
	}
	for _, module := range order {
		b := e.rt.NewHostModuleBuilder(module)
		for _, f := range byModule[module] {
			b.NewFunctionBuilder().
				WithGoFunction(f.run, valueTypes(f.params), valueTypes(f.results)).
				WithName(f.name).
				Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("module %s: %w", module, err)
		}
	}
	return nil
}

// ImportError lists what a module imports and the host does not offer.
type ImportError struct {
	Missing  []ImportName
	Mistyped []ImportName // offered with another signature
}

// Error names them all, so that an author sees them at once.
func (e *ImportError) Error() string {
	var parts []string
	for _, n := range e.Missing {
		parts = append(parts, fmt.Sprintf("import %s is not offered", n)+instead(n.Module))
	}
	for _, n := range e.Mistyped {
		parts = append(parts, fmt.Sprintf("import %s has another signature", n))
	}
	return strings.Join(parts, "; ")
}

// instead says what to build where an import is that of another kind of host.
func instead(module string) string {
	switch {
	case strings.HasPrefix(module, "wasi:"), strings.HasPrefix(module, "cm32p2"):
		return ": it is of WASI preview 2; build a core module for preview 1, wasm32-wasip1 (wasm32-wasi), or for wasm32-unknown-unknown"
	case strings.HasPrefix(module, "__wbindgen"), module == "wbg":
		return ": it is of wasm-bindgen, for JavaScript; build without it, with the export macro of the SDK"
	case module == "gojs" || module == "go":
		return ": it is of Go for browsers; build with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared"
	case module == "wasi_unstable":
		return ": it is of WASI before preview 1; build for wasi_snapshot_preview1"
	}
	return ""
}

type signature struct{ params, results []ValueType }

func (e *Engine) checkImports(imports []rewrite.Func) error {
	var bad ImportError
	for _, im := range imports {
		name := ImportName{im.Module, im.Name}
		offered, ok := e.imports[name]
		switch {
		case !ok:
			bad.Missing = append(bad.Missing, name)
		case !slices.Equal(offered.params, typesOf(im.Params)) || !slices.Equal(offered.results, typesOf(im.Results)):
			bad.Mistyped = append(bad.Mistyped, name)
		}
	}
	if bad.Missing == nil && bad.Mistyped == nil {
		return nil
	}
	return &bad
}

// hostFunc is a host function in the form the runtime takes.
type hostFunc struct {
	module, name    string
	params, results []ValueType
	run             api.GoFunc
}

// counted wraps the configured imports with the bookkeeping of host calls.
func (e *Engine) counted(imports []Import) []hostFunc {
	var fs []hostFunc
	for _, im := range imports {
		fn := im.Fn
		if im.Light {
			fs = append(fs, hostFunc{im.Module, im.Name, im.Params, im.Results,
				func(ctx context.Context, stack []uint64) { fn(instanceOf(ctx).call, stack) }})
			continue
		}
		fs = append(fs, hostFunc{im.Module, im.Name, im.Params, im.Results,
			func(ctx context.Context, stack []uint64) {
				c := instanceOf(ctx).call
				c.usage.HostCalls++
				if c.usage.HostCalls > c.limits.HostCalls {
					c.stop(HostCalls, "more than %d", c.limits.HostCalls)
				}
				fn(c, stack)
			}})
	}
	return fs
}

func valueTypes(ts []ValueType) []api.ValueType {
	vs := make([]api.ValueType, len(ts))
	for i, t := range ts {
		vs[i] = api.ValueType(t)
	}
	return vs
}
