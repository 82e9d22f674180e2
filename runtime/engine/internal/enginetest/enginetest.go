// Package enginetest makes what the rooms of the engine are tested with: guests of
// text, and what instances of them are made of.
package enginetest

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"armature/runtime/abi"
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/instance"
	"armature/runtime/engine/internal/linear"
	"armature/runtime/engine/internal/link"
	"armature/runtime/internal/rewrite"
	"armature/runtime/wasmtest"
)

// Page is the unit in which memories grow, in bytes.
const Page = 64 << 10

// Source is what instances of a module are made of, which may import those functions
// and have no data of its own. It lives until the test ends.
func Source(t testing.TB, text string, host ...call.Import) *instance.Source {
	t.Helper()
	ctx := context.Background() // the test's own ends before its cleanup
	binary, err := wasmtest.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := rewrite.Rewrite(binary, rewrite.Options{Prefix: abi.ReservedPrefix, MaxPages: 64, MaxTable: 64})
	if err != nil {
		t.Fatal(err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithDebugInfoEnabled(true))
	t.Cleanup(func() { _ = rt.Close(ctx) })
	if err := link.Metering(ctx, rt); err != nil {
		t.Fatal(err)
	}
	if err := link.Modules(ctx, rt, link.Funcs(host)); err != nil {
		t.Fatal(err)
	}
	compiled, err := rt.CompileModule(ctx, code.Binary)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := linear.Open(linear.Heap)
	if err != nil {
		t.Fatal(err)
	}
	return &instance.Source{Runtime: rt, Memory: memory, Code: code, Compiled: compiled}
}

// Instance is one of a source, as it is before it has initialised itself. It lives
// until the test ends.
func Instance(t testing.TB, s *instance.Source) *instance.Instance {
	t.Helper()
	in, err := s.New(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}
