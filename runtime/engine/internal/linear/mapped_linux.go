package linear

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mappedMaker makes memories as mappings of their own.
type mappedMaker struct {
	method  Method
	pagemap int // descriptor of this process's page map, -1 if the method needs none
}

// open tries the methods from the best on, or the one named.
func open(m Method) (Maker, error) {
	if os.Getpagesize() != pageSize {
		if m != "" {
			return nil, fmt.Errorf("memory method %s needs pages of %d bytes", m, pageSize)
		}
		return heapMaker{}, nil
	}
	var errs []error
	for _, method := range []Method{Scan, Pagemap, Copy} {
		if m != "" && m != method {
			continue
		}
		mk, err := try(method)
		if err == nil {
			return mk, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", method, err))
	}
	if m != "" {
		return nil, errors.Join(errs...)
	}
	return heapMaker{}, nil
}

// try makes a maker and proves on a small memory that its resets work here:
// containers hide the page map or refuse the system calls in many ways.
func try(method Method) (*mappedMaker, error) {
	mk := &mappedMaker{method: method, pagemap: -1}
	if method != Copy {
		fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		mk.pagemap = fd
	}
	if err := mk.prove(); err != nil {
		_ = mk.Close()
		return nil, err
	}
	return mk, nil
}

func (mk *mappedMaker) prove() error {
	contents := make([]byte, 16*pageSize)
	contents[pageSize] = 1
	im, err := mk.Freeze(contents)
	if err != nil {
		return err
	}
	defer func() { _ = im.Close() }()
	m, err := im.Clone(32 * pageSize)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	b := m.Reallocate(32 * pageSize)
	for _, page := range []int{1, 2, 9, 20, 31} {
		b[page*pageSize+7] = 9
	}
	pages, long, err := m.Reset()
	if err != nil {
		return err
	}
	m.Shrink()
	if b = m.Reallocate(0); !long || len(b) != len(contents) || string(b) != string(contents) || pages < 5 {
		return errors.New("a reset does not restore")
	}
	if b = m.Reallocate(32 * pageSize); !isZero(b[16*pageSize:]) {
		return errors.New("a reset does not clear")
	}
	return nil
}

func (mk *mappedMaker) Method() Method { return mk.method }

func (mk *mappedMaker) Close() error {
	if mk.pagemap < 0 {
		return nil
	}
	return unix.Close(mk.pagemap)
}

func (mk *mappedMaker) New(limit uint64) (Memory, error) {
	m := &mapped{maker: mk, reserved: limit}
	return m, m.reserve()
}

// mapped is a memory in a mapping of its own: address space reserved to the
// limit, a private view of the image at its start, ordinary memory behind that
// as far as the guest has grown.
type mapped struct {
	accounts
	maker    *mappedMaker
	image    *mappedImage // nil for a memory that is not a clone
	base     unsafe.Pointer
	reserved uint64
	ready    uint64 // accessible from the start to here
	length   uint64
	high     uint64 // no page from here on can have been touched
	copied   int    // pages copied since the private ones were last dropped
	shrink   bool
	regions  []region
	entries  []uint64
}

func (m *mapped) reserve() error {
	if m.reserved == 0 {
		return nil
	}
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(m.reserved), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("reserve %d bytes of address space: %w", m.reserved, err)
	}
	m.base = p
	// A huge page would make one written byte cost two megabytes to restore.
	// Kernels without huge pages refuse the advice, which is as good.
	_ = unix.Madvise(m.bytes(m.reserved), unix.MADV_NOHUGEPAGE)
	return nil
}

func (m *mapped) bytes(n uint64) []byte {
	return unsafe.Slice((*byte)(m.base), m.reserved)[:n]
}

// growStep is the least by which accessible memory grows, so that a guest that
// grows page by page does not cost a system call each.
const growStep = 1 << 20

func (m *mapped) Reallocate(size uint64) []byte {
	if m.shrink {
		m.shrink = false
		m.length = m.image.size
		return m.bytes(m.length)
	}
	size = max(size, m.length)
	if !m.allow(size, m.reserved) {
		return nil
	}
	if size > m.ready {
		ready := min(max(size, m.ready+growStep), m.reserved)
		if err := unix.Mprotect(m.bytes(ready)[m.ready:], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
		m.ready = ready
	}
	m.length = size
	m.high = max(m.high, size)
	return m.bytes(size)
}

func (m *mapped) Begin(limit uint64, by Admission) { m.begin(limit, m.length, by) }

func (m *mapped) Kept() uint64 { return min(uint64(m.copied)*pageSize, m.high) }

func (m *mapped) Free()   {}
func (m *mapped) Shrink() { m.shrink = true }

func (m *mapped) Close() error {
	if m.base == nil {
		return nil
	}
	p := m.base
	m.base = nil
	return unix.MunmapPtr(p, uintptr(m.reserved))
}

func (m *mapped) Trim() error {
	if m.high > 0 {
		if err := unix.Madvise(m.bytes(m.high), unix.MADV_DONTNEED); err != nil {
			return fmt.Errorf("drop private pages: %w", err)
		}
	}
	m.high, m.copied = m.image.size, 0
	return nil
}
