package link_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/link"
	"armature/runtime/internal/rewrite"
)

var add = call.Import{
	Module: "host", Name: "add", Params: []call.ValueType{call.I32, call.I64}, Results: []call.ValueType{call.I32},
	Fn: func(*call.Call, []uint64) {},
}

func wants(module, name string, params ...byte) rewrite.Func {
	return rewrite.Func{Module: module, Name: name, Params: params, Results: []byte{byte(call.I32)}}
}

// An author is told of everything that is missing at once, and what to build instead
// where it is meant for another kind of host.
func TestCheck(t *testing.T) {
	offered := link.Offer(link.Funcs([]call.Import{add}))
	i32, i64 := byte(call.I32), byte(call.I64)
	tests := []struct {
		name    string
		imports []rewrite.Func
		says    []string // empty: all is there
	}{
		{"nothing", nil, nil},
		{"what is offered", []rewrite.Func{wants("host", "add", i32, i64)}, nil},
		{"another name", []rewrite.Func{wants("host", "sub", i32, i64)}, []string{"import host.sub is not offered"}},
		{"another module", []rewrite.Func{wants("env", "add", i32, i64)}, []string{"import env.add is not offered"}},
		{"another signature", []rewrite.Func{wants("host", "add", i32)}, []string{"import host.add has another signature"}},
		{"several", []rewrite.Func{wants("host", "add", i64), wants("host", "one"), wants("host", "two")},
			[]string{"host.one is not offered", "host.two is not offered", "host.add has another signature"}},
		{"a component", []rewrite.Func{wants("wasi:io/streams@0.2.0", "write")}, []string{"WASI preview 2", "wasm32-wasip1"}},
		{"wasm-bindgen", []rewrite.Func{wants("wbg", "__wbindgen_throw")}, []string{"wasm-bindgen"}},
		{"Go for browsers", []rewrite.Func{wants("gojs", "runtime.wasmExit")}, []string{"GOOS=wasip1"}},
		{"an old WASI", []rewrite.Func{wants("wasi_unstable", "fd_write")}, []string{"wasi_snapshot_preview1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := offered.Check(tt.imports)
			var missing *link.ImportError
			if (err == nil) != (tt.says == nil) || err != nil && !errors.As(err, &missing) {
				t.Fatalf("it says %v", err)
			}
			for _, text := range tt.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
}

// The runtime gets every function under its module, with its signature, and no module
// twice.
func TestModules(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = rt.Close(ctx) }()
	other := add
	other.Module, other.Params = "env", nil
	if err := link.Modules(ctx, rt, link.Funcs([]call.Import{add, other})); err != nil {
		t.Fatal(err)
	}
	if err := link.Metering(ctx, rt); err != nil {
		t.Fatal(err)
	}
	clocks := link.Clocks{Now: time.Now, Epoch: time.Now()}
	if err := link.Modules(ctx, rt, link.WASI(clocks)); err != nil {
		t.Fatal(err)
	}
	for module, params := range map[string]int{"host": 2, "env": 0} {
		d := rt.Module(module).ExportedFunctionDefinitions()["add"]
		if d == nil || len(d.ParamTypes()) != params || len(d.ResultTypes()) != 1 {
			t.Errorf("%s.add is defined as %v", module, d)
		}
	}
	if d := rt.Module("wasi_snapshot_preview1").ExportedFunctionDefinitions(); d["fd_write"] == nil || d["proc_exit"] == nil || d["random_get"] == nil {
		t.Errorf("WASI has %d functions", len(d))
	}
	if err := link.Modules(ctx, rt, link.Funcs([]call.Import{add})); err == nil || !strings.Contains(err.Error(), "module host") {
		t.Errorf("a module that is there is defined again: %v", err)
	}
}
