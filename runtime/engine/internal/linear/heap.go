package linear

import "fmt"

type heapMaker struct{}

func (heapMaker) Method() Method { return Heap }
func (heapMaker) Close() error   { return nil }

func (heapMaker) New(limit uint64) (Memory, error) { return &heap{max: limit}, nil }

func (heapMaker) Freeze(contents []byte) (Image, error) {
	const unit = 4096
	return &heapImage{
		size:  uint64(len(contents)),
		bytes: append([]byte(nil), contents[:used(contents, unit)]...),
	}, nil
}

type heapImage struct {
	size  uint64
	bytes []byte
}

func (im *heapImage) Size() uint64  { return im.size }
func (im *heapImage) Bytes() []byte { return im.bytes }
func (im *heapImage) Close() error  { return nil }

func (im *heapImage) Clone(limit uint64) (Memory, error) {
	if im.size > limit {
		return nil, fmt.Errorf("an image of %d bytes does not fit a limit of %d", im.size, limit)
	}
	m := &heap{image: im, max: limit, buf: make([]byte, im.size)}
	copy(m.buf, im.bytes)
	return m, nil
}

// heap is a memory in Go's heap.
type heap struct {
	accounts
	image  *heapImage // nil for a memory that is not a clone
	max    uint64
	buf    []byte // capacity is what was ever needed
	high   uint64 // greatest length since the last reset
	shrink bool
}

func (m *heap) Reallocate(size uint64) []byte {
	if m.shrink {
		m.shrink = false
		m.buf = m.buf[:m.image.size]
		return m.buf
	}
	if size < uint64(len(m.buf)) {
		size = uint64(len(m.buf))
	}
	if !m.allow(size, m.max) {
		return nil
	}
	if size > uint64(cap(m.buf)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(m.buf))), m.max))
		copy(grown, m.buf)
		m.buf = grown
	}
	m.buf = m.buf[:size]
	m.high = max(m.high, size)
	return m.buf
}

func (m *heap) Begin(limit uint64, by Admission) { m.begin(limit, uint64(len(m.buf)), by) }

// Kept is all of it: what was ever needed stays.
func (m *heap) Kept() uint64 { return uint64(cap(m.buf)) }

func (m *heap) Free()        {}
func (m *heap) Shrink()      { m.shrink = true }
func (m *heap) Close() error { m.buf = nil; return nil }

func (m *heap) Reset() (pages int, long bool, err error) {
	all := m.buf[:max(m.high, uint64(len(m.buf)))]
	n := copy(all, m.image.bytes)
	clear(all[n:])
	m.high = m.image.size
	return (len(all) + 4095) / 4096, uint64(len(m.buf)) != m.image.size, nil
}

// Trim has nothing to give back that a guest's next call would not need.
func (m *heap) Trim() error { return nil }

// accounts is what every kind of memory keeps about the call it serves.
type accounts struct {
	limit, peak, refused uint64
	admitted             uint64 // the greatest length that was asked for
	by                   Admission
}

func (a *accounts) begin(limit, length uint64, by Admission) {
	*a = accounts{limit: limit, admitted: length, by: by}
}

func (a *accounts) Confine(limit uint64) { a.limit = limit }
func (a *accounts) Peak() uint64         { return a.peak }
func (a *accounts) Refused() uint64      { return a.refused }

// allow reports whether the memory may have size bytes, and keeps account.
func (a *accounts) allow(size, ceiling uint64) bool {
	if size > ceiling || a.limit > 0 && size > a.limit {
		if a.refused == 0 {
			a.refused = size
		}
		return false
	}
	if a.by != nil && size > a.admitted {
		if !a.by.Admit(size - a.admitted) {
			a.refused = max(a.refused, size)
			return false
		}
		a.admitted = size
	}
	a.peak = max(a.peak, size)
	return true
}
