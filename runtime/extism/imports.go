package extism

import (
	"encoding/binary"
	"log/slog"

	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Dialect is Extism's way for host and guest to talk.
type Dialect struct {
	log     *slog.Logger
	imports []engine.Import
	window  []byte
}

// New makes the dialect. initialising receives the lines of plugins that
// initialise themselves; nil: nobody does.
func New(initialising *slog.Logger) *Dialect {
	if initialising == nil {
		initialising = slog.New(slog.DiscardHandler)
	}
	d := &Dialect{log: initialising}
	kernel := append(d.memory(), d.services()...)
	d.window = windowBinary(kernel)
	d.imports = append(kernel, documents()...)
	return d
}

// Name implements engine.Dialect.
func (d *Dialect) Name() string { return abi.Extism }

// Imports implements engine.Dialect.
func (d *Dialect) Imports() []engine.Import { return d.imports }

// Window implements engine.Dialect.
func (d *Dialect) Window() (over string, module []byte) { return abi.ExtismEnv, d.window }

// NewKernel implements engine.Dialect.
func (d *Dialect) NewKernel(w *engine.Window) engine.Kernel {
	k := newKernel(w)
	k.arena.clear()
	k.tell()
	return k
}

// Startup implements engine.Dialect, as Extism does it: a WASI reactor has
// _initialize, Haskell's runtime hs_init after it, and modules that were linked as
// commands the constructors of C.
func (d *Dialect) Startup(exports func(string) (engine.Export, bool)) []string {
	if _, ok := exports(haskellInit); ok {
		return []string{abi.Initialize, haskellInit}
	}
	if _, ok := exports(abi.Initialize); ok {
		return []string{abi.Initialize}
	}
	if x, ok := exports(constructors); ok && len(x.Params) == 0 {
		return []string{constructors}
	}
	return nil
}

const (
	haskellInit  = "hs_init"
	constructors = "__wasm_call_ctors"
)

// Types of parameters and results, in the letters of the table of imports.
const (
	i = engine.I32
	l = engine.I64
)

func types(ts ...engine.ValueType) []engine.ValueType { return ts }

// env makes a function of Extism's own namespace.
func env(name string, params, results []engine.ValueType, fn func(k *kernel, c *engine.Call, s []uint64)) engine.Import {
	return engine.Import{Module: abi.ExtismEnv, Name: name, Params: params, Results: results,
		Fn: func(c *engine.Call, s []uint64) { fn(of(c), c, s) }}
}

// memory are the functions that reach nothing but the arena. They cost fuel, and
// do not count as host calls: a text takes one for each eight of its bytes.
func (d *Dialect) memory() []engine.Import {
	none := types()
	all := []engine.Import{
		env("alloc", types(l), types(l), func(k *kernel, c *engine.Call, s []uint64) { s[0] = k.alloc(c, s[0]) }),
		env("free", types(l), none, func(k *kernel, c *engine.Call, s []uint64) { k.discard(c, s[0]) }),
		env("length", types(l), types(l), length),
		env("length_unsafe", types(l), types(l), length),
		env("load_u8", types(l), types(i), func(k *kernel, c *engine.Call, s []uint64) { s[0] = uint64(k.own(c, s[0], 1)[0]) }),
		env("load_u64", types(l), types(l), func(k *kernel, c *engine.Call, s []uint64) {
			v, ok := k.load64(s[0])
			if !ok {
				v = binary.LittleEndian.Uint64(k.own(c, s[0], 8))
			}
			s[0] = v
		}),
		env("store_u8", types(l, i), none, func(k *kernel, c *engine.Call, s []uint64) {
			if !k.store8(s[0], byte(s[1])) {
				b := k.own(c, s[0], 1)
				k.wrote(s[0])
				b[0] = byte(s[1])
			}
			k.settle(c)
		}),
		env("store_u64", types(l, l), none, func(k *kernel, c *engine.Call, s []uint64) {
			if !k.store64(s[0], s[1]) {
				b := k.own(c, s[0], 8)
				k.wrote(s[0]) // it may begin inside
				binary.LittleEndian.PutUint64(b, s[1])
			}
			k.settle(c)
		}),
		env("input_length", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.inputLen }),
		env("input_load_u8", types(l), types(i), func(k *kernel, c *engine.Call, s []uint64) { s[0] = k.inputLoad(c, s[0], 1) }),
		env("input_load_u64", types(l), types(l), func(k *kernel, c *engine.Call, s []uint64) { s[0] = k.inputLoad(c, s[0], 8) }),
		env("input_offset", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.inputAt }),
		env("input_set", types(l, l), none, func(k *kernel, c *engine.Call, s []uint64) {
			k.own(c, s[0], s[1])
			k.setInput(s[0], s[1])
		}),
		env("output_set", types(l, l), none, func(k *kernel, c *engine.Call, s []uint64) {
			k.own(c, s[0], s[1])
			k.outputAt, k.outputLen = s[0], s[1]
		}),
		env("output_offset", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.outputAt }),
		env("output_length", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.outputLen }),
		env("error_set", types(l), none, func(k *kernel, c *engine.Call, s []uint64) {
			k.argument(c, s[0])
			k.errorAt = s[0]
		}),
		env("error_get", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.errorAt }),
		env("memory_bytes", none, types(l), func(k *kernel, _ *engine.Call, s []uint64) { s[0] = k.weight() }),
		env("reset", none, none, func(k *kernel, c *engine.Call, _ []uint64) {
			k.arena.clear()
			k.tell()
			k.settle(c)
			k.setInput(0, 0)
			k.outputAt, k.outputLen, k.errorAt = 0, 0, 0
		}),
	}
	for n := range all {
		all[n].Light = true
	}
	return all
}

func length(k *kernel, _ *engine.Call, s []uint64) {
	text, _ := k.text(s[0])
	s[0] = uint64(len(text))
}

// own is a range of the arena, which must be wholly inside unless it is empty.
func (k *kernel) own(c *engine.Call, p, n uint64) []byte {
	b, ok := k.span(p, n)
	if ok || n == 0 {
		return b
	}
	end, ok := k.beyond(p, n)
	if !ok || !c.Reserve(k.with(uint64(end-len(k.bytes)), 0)) {
		c.BadPointer(p, n)
	}
	c.Spend(page / bytesPerUnit)
	k.grow(end)
	k.tell()
	b, _ = k.span(p, n)
	return b
}

// discard frees a block. An address of nothing, or of what is free already, is
// let pass: kits free what the host took over.
func (k *kernel) discard(c *engine.Call, p uint64) {
	if k.release(p) && p == k.inputAt {
		k.setInput(0, 0)
	}
	k.settle(c)
}

// inputLoad loads n bytes of the input, or those that are left of it: kits may fetch
// the last ones by eights too.
func (k *kernel) inputLoad(c *engine.Call, at, n uint64) uint64 {
	if at >= k.inputLen {
		c.BadPointer(at, n)
	}
	var b [8]byte
	copy(b[:n], k.own(c, k.inputAt+at, min(n, k.inputLen-at)))
	return binary.LittleEndian.Uint64(b[:])
}
