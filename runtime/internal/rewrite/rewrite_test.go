package rewrite_test

import (
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"armature/runtime/internal/rewrite"
	"armature/runtime/wasmtest"
)

var options = rewrite.Options{Prefix: "\x00test.", MaxPages: 256, MaxTable: 1 << 16}

func assemble(tb testing.TB, src string) []byte {
	tb.Helper()
	b, err := wasmtest.Assemble(src)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestRefusesByName(t *testing.T) {
	module := func(sections ...string) string { return "\x00asm\x01\x00\x00\x00" + strings.Join(sections, "") }
	tests := []struct{ name, binary, want string }{
		{"text", "(module)", "not a WebAssembly binary"},
		{"component", "\x00asm\x0d\x00\x01\x00", "component"},
		{"version", "\x00asm\x02\x00\x00\x00", "version"},
		{"truncated", module("\x01\x05\x01"), "ends early"},
		{"order", module("\x03\x01\x00", "\x01\x01\x00"), "out of order"},
		{"twice", module("\x01\x01\x00", "\x01\x01\x00"), "out of order"},
		{"section", module("\x20\x00"), "section 32"},
		{"count", module("\x01\x05\xff\xff\xff\xff\x0f"), "counts"},
		{"long number", module("\x01\x06\xff\xff\xff\xff\xff\x0f"), "32 bits"},
		{"trailing", module("\x01\x02\x00\x00"), "too many"},
		{"exceptions", module("\x0d\x01\x00"), "exception handling"},
		{"garbage collection", module("\x01\x03\x01\x5f\x00"), "garbage collection"},
		{"typed references", module("\x01\x06\x01\x60\x01\x63\x00\x00"), "typed references"},
		{"shared memory", module("\x05\x04\x01\x03\x01\x02"), "shared memory"},
		{"64-bit memory", module("\x05\x03\x01\x04\x01"), "64-bit memory"},
		{"two memories", module("\x05\x05\x02\x00\x01\x00\x01"), "more than one memory"},
		{"large memory", module("\x05\x04\x01\x00\x81\x02"), "the limit is"},
		{"imported memory", module("\x02\x08\x01\x01a\x01b\x02\x00\x01"), "only functions"},
		{"large table", module("\x04\x06\x01\x70\x00\x81\x80\x04"), "the limit is"},
		{"reserved import", module("\x01\x04\x01\x60\x00\x00", "\x02\x0d\x01\x07\x00test.x\x01b\x00\x00"), "reserved"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := rewrite.Rewrite([]byte(test.binary), options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
}

func TestRefusesText(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"tail call", `(module (func $f (return_call $f)))`, "tail calls"},
		{"our global", `(module (global (mut i32) (i32.const 0)) (func (global.set 1 (i64.const 1))))`, "global 1"},
		{"our function", `(module (func (call 1)))`, "function 1"},
		{"our local", `(module (func $f (call $f) (drop (local.get 0))))`, "local 0"},
		{"our block", `(module (func $f (call $f) (br 1)))`, "label 1"},
		{"export of our global", `(module (export "x" (global 0)))`, "does not exist"},
		{"start with parameters", `(module (func $f (param i32)) (start $f))`, "start function"},
		{"data without memory", `(module (data (i32.const 0) "x"))`, "needs a memory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := rewrite.Rewrite(assemble(t, test.src), options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
}

func TestUnrestorable(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"plain", `(module (memory 1) (func (drop (memory.grow (i32.const 1)))))`, ""},
		{"passive data", `(module (memory 1) (data $d "x") (func (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))))`, ""},
		{"data.drop", `(module (memory 1) (data $d "x") (func (data.drop 0)))`, "data.drop"},
		{"table.set", `(module (table 1 funcref) (func (table.set 0 (i32.const 0) (ref.null func))))`, "table.set"},
		{"table.grow", `(module (table 1 funcref) (func (drop (table.grow 0 (ref.null func) (i32.const 1)))))`, "table.grow"},
		{"reference global", `(module (global (mut funcref) (ref.null func)))`, "not a number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := rewrite.Rewrite(assemble(t, test.src), options)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(m.Unrestorable, "; "); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("%q; want %q", got, test.want)
			}
			compiles(t, m.Binary)
		})
	}
}

func TestLiftsInitialisation(t *testing.T) {
	m, err := rewrite.Rewrite(assemble(t, `(module
		(memory 2 100)
		(global (mut i32) (i32.const 5)) (global i32 (i32.const 5)) (global (mut i64) (i64.const 5))
		(data (i32.const 3) "abc") (data (i32.const 4) "x")
		(func $s) (start $s) (func (export "run") (param i32)))`), options)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Start || len(m.Globals) != 2 || len(m.Data) != 2 || m.Data[0].Offset != 3 || string(m.Data[1].Bytes) != "x" {
		t.Errorf("%+v", m)
	}
	if m.MinPages != 2 || m.MaxPages != 100 || len(m.Exports) != 1 || m.Exports[0].Name != "run" {
		t.Errorf("%+v", m)
	}
	compiles(t, m.Binary)
}

func compiles(tb testing.TB, binary []byte) {
	tb.Helper()
	rt := wazero.NewRuntimeWithConfig(tb.Context(), wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = rt.Close(tb.Context()) }()
	if _, err := rt.CompileModule(tb.Context(), binary); err != nil {
		tb.Fatal(err)
	}
}

// FuzzRewrite: no input makes the rewriter panic, and what was a valid module
// before is one after.
func FuzzRewrite(f *testing.F) {
	for _, name := range wasmtest.Names() {
		b, err := wasmtest.Module(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, src := range []string{
		`(module (type $t (func (param i32) (result i32 i32)))
		  (func $two (param i32) (result i32 i32) (if (i32.eqz (local.get 0)) (then (return (call $two (i32.const 1))))) (i32.const 1) (local.get 0))
		  (func (export "f") (param i32) (result i32) (local $i i32) (i32.const 3)
		    loop (param i32) (result i32) (i32.const 1) i32.sub (local.tee $i) (br_if 0 (local.get $i) (local.get $i)) end)
		  (type $l (func (param i32) (result i32))))`,
		`(module (func (param i32) (block (block (block (br_table 0 1 2 3 (local.get 0))) (loop (br_if 1 (local.get 0)) (br 0)))) (return)))`,
		`(module (table 4 funcref) (elem (i32.const 0) $a $b) (func $a (call $b)) (func $b (call $a) (drop (ref.func $a))) (global funcref (ref.func $b)))`,
	} {
		if b, err := wasmtest.Assemble(src); err == nil {
			f.Add(b)
		}
	}
	rt := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter().
		WithMemoryLimitPages(65536))
	f.Fuzz(func(t *testing.T, binary []byte) {
		m, err := rewrite.Rewrite(binary, options)
		if err != nil {
			return
		}
		ctx := experimental.WithCompilationWorkers(t.Context(), 1)
		before, err := rt.CompileModule(ctx, binary)
		if err != nil {
			return
		}
		_ = before.Close(ctx)
		after, err := rt.CompileModule(ctx, m.Binary)
		if err != nil {
			t.Fatalf("valid before, not after: %v", err)
		}
		_ = after.Close(ctx)
	})
}
