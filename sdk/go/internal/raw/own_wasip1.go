package raw

import "unsafe"

// Input copies the call's input into b and returns its full length.
func Input(b []byte) int32 { return hostInput(at(b), size(b)) }

// Output sets the call's result.
func Output(b []byte) { hostOutput(at(b), size(b)) }

// Throw ends the call with an error. It does not return.
func Throw(kind int32, b []byte) {
	hostThrow(kind, at(b), size(b))
	panic("armature: throw returned")
}

// Take copies what is left of the latest result into b and returns how much
// was left before.
func Take(b []byte) int32 { return hostTake(at(b), size(b)) }

// Log writes one line.
func Log(level int32, b []byte) { hostLog(level, at(b), size(b)) }

// Now is the host's clock in microseconds since the Unix epoch.
func Now() int64 { return hostNow() }

// Random fills b.
func Random(b []byte) { hostRandom(at(b), size(b)) }

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
func size(b []byte) int32        { return int32(len(b)) }
