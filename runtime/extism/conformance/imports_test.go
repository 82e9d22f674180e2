package conformance

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// function is the type of an imported function.
type function struct{ params, results []api.ValueType }

// services are what a host of Extism adds to its kernel.
func services() map[string]function {
	const i, l = api.ValueTypeI32, api.ValueTypeI64
	fs := map[string]function{
		"config_get":       {[]api.ValueType{l}, []api.ValueType{l}},
		"var_get":          {[]api.ValueType{l}, []api.ValueType{l}},
		"var_set":          {[]api.ValueType{l, l}, nil},
		"http_request":     {[]api.ValueType{l, l}, []api.ValueType{l}},
		"http_status_code": {nil, []api.ValueType{i}},
		"http_headers":     {nil, []api.ValueType{l}},
		"get_log_level":    {nil, []api.ValueType{i}},
	}
	for _, level := range []string{"trace", "debug", "info", "warn", "error"} {
		fs["log_"+level] = function{[]api.ValueType{l}, nil}
	}
	return fs
}

// TestEveryImport: a module that imports every function of Extism's kernel, with the
// types that the kernel itself has, is loaded.
func TestEveryImport(t *testing.T) {
	ctx := t.Context()
	kernel, err := os.ReadFile(filepath.Join(samplesDir(t), "..", "extism-runtime.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	compiled, err := rt.CompileModule(ctx, kernel)
	if err != nil {
		t.Fatal(err)
	}
	all := services()
	for name, def := range compiled.ExportedFunctions() {
		all[name] = function{def.ParamTypes(), def.ResultTypes()}
	}
	if len(all) < 30 {
		t.Fatalf("the kernel has only %v", slices.Sorted(maps.Keys(all)))
	}
	s := serve(t)
	s.drop("all", []byte(`{"name": "t.all", "version": "1", "abi": 1, "optional_grants": ["http_fetch"]}`), importing(all))
	eventually(t, "it serves", func() bool { return s.plugins()["t.all"] })
}

// importing makes a module that imports the functions and does nothing.
func importing(fs map[string]function) []byte {
	var types, imports []byte
	for i, name := range slices.Sorted(maps.Keys(fs)) {
		types = append(types, 0x60)
		for _, list := range [][]api.ValueType{fs[name].params, fs[name].results} {
			types = append(binary.AppendUvarint(types, uint64(len(list))), list...)
		}
		for _, text := range []string{"extism:host/env", name} {
			imports = append(binary.AppendUvarint(imports, uint64(len(text))), text...)
		}
		imports = binary.AppendUvarint(append(imports, 0), uint64(i))
	}
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for id, list := range [][]byte{1: types, 2: imports} {
		if list == nil {
			continue
		}
		list = append(binary.AppendUvarint(nil, uint64(len(fs))), list...)
		wasm = append(binary.AppendUvarint(append(wasm, byte(id)), uint64(len(list))), list...)
	}
	return wasm
}
