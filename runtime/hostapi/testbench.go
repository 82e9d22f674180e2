package hostapi

import (
	"context"

	"armature/core/fault"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Answerer answers a request of a test for a function of module abi.Module or
// abi.TestModule.
type Answerer func(ctx context.Context, module, name string, request []byte) ([]byte, error)

// BenchImports returns what the tests of a plugin are offered, for the engine that
// runs them: every import of a plugin, the capabilities answered by answer, and
// the functions of abi.TestModule, which no other engine has.
func BenchImports(cfg Config, answer Answerer) []engine.Import {
	var all []engine.Import
	for _, im := range Imports(cfg) {
		if !isCapability(im.Name) {
			all = append(all, im)
		}
	}
	offer := func(module string, names []string) {
		for _, name := range names {
			cp := capability{name: name, run: func(ctx context.Context, _ *State, dst, request []byte) ([]byte, error) {
				// A test is a client: what it asks for is nested in no guest's call.
				text, err := answer(context.WithValue(ctx, stateKey{}, (*State)(nil)), module, name, request)
				return append(dst, text...), err
			}}
			im := function(name, 4, i32, cp.serve())
			im.Module = module
			all = append(all, im)
		}
	}
	offer(abi.Module, abi.Capabilities())
	offer(abi.TestModule, abi.TestCapabilities())
	return all
}

func isCapability(name string) bool {
	for _, cp := range operations {
		if cp.name == name {
			return true
		}
	}
	return false
}

// Perform does what a capability is for, for a call that no guest makes: a test's.
// Grants are not looked at; the caller's rights are.
func (st *State) Perform(ctx context.Context, name string, request []byte) ([]byte, error) {
	for _, cp := range operations {
		if cp.name == name {
			return cp.run(ctx, st, nil, request)
		}
	}
	return nil, fault.New(fault.NotImplemented, "", "There is no %s", name)
}
