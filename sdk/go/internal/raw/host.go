//go:build !wasip1

package raw

// Host is the other end of the functions that a plugin imports, where they are no
// imports: in a native go test. Without another one it is a pipe to a real site.
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
// nil. It is global because the imports of a WebAssembly module are.
func Use(h Host) (previous Host) {
	previous, current = current, h
	return previous
}

func host() Host {
	if current == nil {
		current = openPipe()
	}
	return current
}
