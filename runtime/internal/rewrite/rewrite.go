// Package rewrite prepares a guest's binary for the engine: it makes the
// guest's state visible, so that it can be saved and restored, and its work
// countable, so that it can be limited.
//
// What it changes:
//
//   - mutable globals are exported under reserved names;
//   - the start function becomes an export, active data segments are lifted out,
//     so that the host decides when and whether initialisation runs;
//   - fuel is charged at function entries, loop heads and after branches, call
//     depth at function entries; when either runs out, an imported function is
//     called that refills or ends the call;
//   - bulk memory and table operations are charged by length and cut into
//     pieces, since no check happens inside one;
//   - table maxima are lowered to the host's;
//   - names are kept and completed, and the lines of the sources moved along, for
//     stack traces.
//
// The package trusts nothing in its input. It does not check types (the
// compiler does that with the result), but it does check every index, since an
// index that was out of range before could name one of our additions after.
// What it does not understand it refuses by name.
package rewrite

import (
	"fmt"

	"armature/runtime/sourcemap"
)

// Version changes with every change of the output, so that code compiled from
// an older output is not taken for current.
const Version = 7

// Options are the host's names and ceilings.
type Options struct {
	Prefix   string // starts every name we add; the guest may not use it
	MaxPages uint32 // memory ceiling, in WebAssembly pages
	MaxTable uint32 // elements of all tables together
}

// Names we add, behind Options.Prefix.
const (
	HostModule = "host"  // the module of our import
	Yield      = "yield" // called when fuel or depth is used up
	Meter      = "meter" // i64 global: fuel and depth, see FuelShift
	Start      = "start" // the former start function
	global     = "global."
)

// The meter global holds the fuel left before the next yield in its upper bits,
// signed, and the call depth left in its lower ones. One global, because a
// function's entry then subtracts, stores and tests once for both. DepthGuard is
// set when the depth has gone below zero.
const (
	FuelShift  = 20
	DepthGuard = 1 << (FuelShift - 1)
	MaxDepth   = DepthGuard - 1
)

// DetourName is the name of the functions we put between a function and its
// caller when it is interrupted; stack traces leave them out.
const DetourName = "\x01detour"

// Func is an imported or exported function; types as in the binary format.
type Func struct {
	Module, Name    string // Module is empty for an export
	Params, Results []byte
}

// Segment is a data segment to be written at its offset before the guest runs.
type Segment struct {
	Offset uint32
	Bytes  []byte
}

// Custom is a custom section.
type Custom struct {
	Name string
	Data []byte
}

// Module is the outcome.
type Module struct {
	Binary  []byte
	Imports []Func // as the guest declares them
	Exports []Func
	Custom  []Custom
	Globals []string  // exports of the guest's mutable globals
	Data    []Segment // in order; later ones overwrite
	Start   bool      // the Start export exists

	Lines *sourcemap.Table // of Binary's code, by the offsets in stack traces; nil: unknown

	HasMemory bool
	MinPages  uint32 // as declared
	MaxPages  uint32 // the lower of declared and ceiling

	// Unrestorable names what keeps a call from being undone by restoring
	// memory and globals; empty when nothing does.
	Unrestorable []string
}

// malformed is how the parser leaves: Rewrite recovers it. Every other panic is
// a bug and stays one.
type malformed struct{ text string }

func fail(format string, args ...any) {
	panic(malformed{fmt.Sprintf(format, args...)})
}

// Rewrite returns the prepared module.
func Rewrite(binary []byte, opt Options) (out *Module, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case malformed:
			out, err = nil, fmt.Errorf("%s", r.text)
		default:
			panic(r)
		}
	}()
	m := parse(binary, opt)
	m.scan()
	return m.write(), nil
}
