package engine

import (
	"armature/runtime/engine/internal/call"
	"armature/runtime/engine/internal/instance"
	"armature/runtime/engine/internal/link"
)

// What a call is, and what host functions, interpreters and dialects have to do with
// it, is said below the engine: each of these has its documentation there.
type (
	Call    = call.Call
	Limits  = call.Limits
	Usage   = call.Usage
	Due     = call.Due
	Senses  = call.Senses
	Import  = call.Import
	Program = call.Program
	Kernel  = call.Kernel
	Error   = call.Error
	Reason  = call.Reason
	Binary  = call.Binary
	Export  = call.Export
	Window  = instance.Window
	Command = link.Command

	ImportName  = call.ImportName
	ImportError = link.ImportError
	ValueType   = call.ValueType
	KernelState = instance.KernelState
)

// The numeric types of WebAssembly.
const (
	I32 = call.I32
	I64 = call.I64
	F32 = call.F32
	F64 = call.F64
)

// The reasons for which calls fail.
const (
	Trap        = call.Trap
	OutOfFuel   = call.OutOfFuel
	Deadline    = call.Deadline
	Canceled    = call.Canceled
	OutOfMemory = call.OutOfMemory
	TooDeep     = call.TooDeep
	HostCalls   = call.HostCalls
	BadPointer  = call.BadPointer
	BadExport   = call.BadExport
	Exited      = call.Exited
	Aborted     = call.Aborted
	HostPanic   = call.HostPanic
	Unavailable = call.Unavailable
)

// DefaultLimits is what a call gets when neither it nor the engine's
// configuration says otherwise.
func DefaultLimits() Limits { return call.DefaultLimits() }

// MaxLimits is the ceiling of a call when the engine's configuration names none.
func MaxLimits() Limits { return call.MaxLimits() }
