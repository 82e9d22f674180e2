package raw

// Host is what stands in for the server where there is none: in `go test` on
// the author's machine. Package stubhost implements it.
type Host interface {
	Input(b []byte) int32
	Output(b []byte)
	Throw(kind int32, b []byte)
	Take(b []byte) int32
	Log(level int32, b []byte)
	Now() int64
	Random(b []byte)
	// Call runs the capability of that import name.
	Call(name string, in, out []byte) int32
}

var current Host

// Use makes h the host of all calls and returns the one before, which may be
// nil. It is global because the imports of a WebAssembly module are. In a wasip1
// build it changes nothing; it is there so that a plugin's tests compile for
// every platform.
func Use(h Host) (previous Host) {
	previous, current = current, h
	return previous
}
