// Package linear provides the linear memories of guests: memories that can be
// frozen into an image, cloned from it, and reset to it at the cost of the pages
// a call has changed.
//
// Where the system offers memory files and page maps (Linux), clones share the
// image's pages until they write to them. Elsewhere a clone is a copy and a
// reset copies everything back; the meaning is the same.
package linear

// Memory is the linear memory of one instance. It belongs to one goroutine at a
// time. Reallocate and Free are what the WebAssembly runtime calls.
type Memory interface {
	// Reallocate returns the memory with the given length, or nil when that is
	// over the limit. A fresh clone has at least its image's length. After
	// Shrink the next call returns the image's length whatever it asks for.
	Reallocate(size uint64) []byte
	// Free does nothing: the runtime calls it when a module closes, at which
	// time a call may still be running. The owner calls Close.
	Free()

	// Begin starts a call that may have at most limit bytes, and asks by before the
	// memory grows; nil: nobody is asked.
	Begin(limit uint64, by Admission)
	// Confine changes the limit of the call.
	Confine(limit uint64)
	// Peak is the greatest length since Begin; Refused the first length that
	// was over the limit since, or zero.
	Peak() uint64
	Refused() uint64

	// Reset makes the contents those of the image. It returns how many pages
	// it wrote, and whether the memory is longer than the image: then the owner
	// calls Shrink and makes the runtime reallocate.
	Reset() (pages int, long bool, err error)
	Shrink()
	// Trim gives the pages that differ from the image, or once did, back to
	// the system. The contents must be those of the image.
	Trim() error
	// Kept is how many bytes the memory may keep to itself when its contents are those
	// of the image: what Trim gives back.
	Kept() uint64
	// Close frees the memory. Nothing may use it afterwards.
	Close() error
}

// Admission is asked for memory before it is taken.
type Admission interface {
	// Admit reports whether a memory may have so many bytes more.
	Admit(more uint64) bool
}

// Image is the frozen contents of a memory.
type Image interface {
	Size() uint64  // its length
	Bytes() []byte // its contents up to the last byte that is not zero; read only
	// Clone makes a memory of the image that can grow to limit bytes.
	Clone(limit uint64) (Memory, error)
	Close() error
}

// Method is a way to make and reset memories.
type Method string

// The methods, best first.
const (
	Scan    Method = "scan"    // ask the kernel for the changed pages (Linux 6.7)
	Pagemap Method = "pagemap" // read the page map for them
	Copy    Method = "copy"    // mapped image, but everything is copied back
	Heap    Method = "heap"    // ordinary memory
)

// Maker makes memories by one method.
type Maker interface {
	Method() Method
	// New makes an empty memory that can grow to limit bytes.
	New(limit uint64) (Memory, error)
	// Freeze makes an image of contents.
	Freeze(contents []byte) (Image, error)
	Close() error
}

// Open returns a maker. Without a method it is the best one that works here.
func Open(m Method) (Maker, error) {
	if m == Heap {
		return heapMaker{}, nil
	}
	return open(m)
}

// used is the length of b without the zero bytes at its end, in whole units.
func used(b []byte, unit int) int {
	n := len(b)
	for n > 0 && isZero(b[max(n-unit, 0):n]) {
		n = max(n-unit, 0)
	}
	return n
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
