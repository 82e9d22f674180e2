// The misbehave plugin does what plugins should not, so that one can watch the
// server cope.
package main

import "armature/sdk/go"

func main() {}

//go:wasmexport acme.misbehave.fail
func exportFail(n int32) { armature.Handle(n, fail) }

//go:wasmexport acme.misbehave.spin
func exportSpin(n int32) { armature.Handle(n, spin) }

//go:wasmexport acme.misbehave.trap
func exportTrap(n int32) { armature.Handle(n, trap) }

//go:wasmexport acme.misbehave.remember
func exportRemember(n int32) { armature.Handle(n, remember) }

// Exported but not in the manifest: nobody can call it.
//
//go:wasmexport acme.misbehave.hidden
func exportHidden(n int32) { armature.Handle(n, hidden) }
