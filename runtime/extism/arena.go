package extism

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// base is the address of an arena's first byte. What lies below is nobody's, so
// that a guest which writes to the block it did not get is noticed.
const base = 1 << 16

// slack is how many bytes behind the last block may be read and written: kits
// fetch the last bytes of a block by eights.
const slack = 8

// maxArena bounds an arena whatever the limits say, since blocks are numbered in
// 32 bits.
const maxArena = 1 << 30

// maxFrozen bounds the arena of a snapshot: every instance has a copy of it.
const maxFrozen = 4 << 20

// block is a piece of an arena.
type block struct {
	at   uint32 // of the first byte, base not counted
	size uint32 // of what may be used
	used uint32 // what the guest asked for; 0: the block is free
	next int32  // the next free block of its class; -1: none
}

// blockBytes is what a block costs beside its size.
const blockBytes = 16

// arena is memory of which blocks are handed out. Freed blocks are used again for
// requests of the same class of sizes, so that neither allocating nor freeing ever
// searches.
type arena struct {
	room   func(n int) []byte // makes what the bytes lie in at least n long, all its capacity; it keeps what is there
	bytes  []byte             // what can be reached: the blocks, slack, and see beyond
	top    int                // where the next block begins
	blocks []block            // in the order of their addresses
	free   [classes]int32

	// The most there has been since the last reset, which is memory that the host
	// still has.
	mostBytes, mostBlocks int

	frozen  image
	changed bool // something of what was frozen
}

// image is a frozen arena.
type image struct {
	bytes  []byte
	top    int
	blocks []block
	free   [classes]int32
}

// clear takes everything back.
func (a *arena) clear() {
	a.bytes, a.blocks, a.top, a.changed = a.bytes[:0], a.blocks[:0], 0, true
	for i := range a.free {
		a.free[i] = -1
	}
}

// classes is how many sizes blocks have: multiples of 16 up to 64, and from there
// on four to each doubling.
const classes = 4 + 4*24

// class is the smallest class that holds n bytes, and its size.
func class(n uint32) (c int, size uint32) {
	if n <= 64 {
		c = int(max(n+15, 16)/16) - 1
		return c, uint32(c+1) * 16
	}
	shift := uint32(bits.Len32(n-1)) - 3 // 2 bits behind the first one tell the class
	quarter := (n - 1) >> shift          // 4 to 7
	return 4 + int(shift-4)*4 + int(quarter-4), (quarter + 1) << shift
}

// cost is what n more bytes need if no freed block is taken.
func (a *arena) cost(n uint32) uint64 {
	_, size := class(n)
	return uint64(size)
}

// weight is how much memory the arena takes for what is in it.
func (a *arena) weight() uint64 { return uint64(len(a.bytes)) + blockBytes*uint64(len(a.blocks)) }

// with is how much memory the arena takes once it has so many more bytes and
// blocks; clear gives none of it back.
func (a *arena) with(bytes uint64, blocks int) uint64 {
	return max(uint64(a.mostBytes), uint64(len(a.bytes))+bytes) + blockBytes*uint64(max(a.mostBlocks, len(a.blocks)+blocks))
}

// reuse takes a freed block for n bytes; 0: there is none.
func (a *arena) reuse(n uint32) uint64 {
	c, _ := class(n)
	i := a.free[c]
	if i < 0 {
		return 0
	}
	a.touch(int(i))
	b := &a.blocks[i]
	a.free[c], b.used, b.next = b.next, n, -1
	return base + uint64(b.at)
}

// extend makes a new block for n bytes.
func (a *arena) extend(n uint32) uint64 {
	_, size := class(n)
	at := a.top
	a.top += int(size)
	a.grow(a.top + slack)
	a.blocks = append(a.blocks, block{at: uint32(at), size: size, used: n, next: -1})
	a.mostBlocks = max(a.mostBlocks, len(a.blocks))
	return base + uint64(at)
}

// grow makes end bytes reachable.
func (a *arena) grow(end int) {
	have := len(a.bytes)
	if end <= have {
		return
	}
	if end > cap(a.bytes) {
		a.bytes = a.room(end)
	}
	a.bytes = a.bytes[:end]
	a.mostBytes = max(a.mostBytes, end)
	clear(a.bytes[have:]) // of whoever had it before
}

// page is the unit in which the memory of Extism's own kernel grows.
const page = 64 << 10

// beyond is how long the arena has to be for an access to n bytes at p, which lie
// outside of it; ok is false where they lie outside of the page as well on which
// the last block ends. Up to there a plugin may reach in Extism, and kits do: that
// of AssemblyScript takes a block of as many bytes as a text has characters.
func (a *arena) beyond(p, n uint64) (end int, ok bool) {
	at, last := p-base, (a.top+slack+page-1)/page*page
	return last, p >= base && n <= uint64(last) && at <= uint64(last)-n && len(a.blocks) > 0
}

// find is the block in use that begins at p; nil: there is none.
func (a *arena) find(p uint64) *block {
	i := a.index(p)
	if i < 0 {
		return nil
	}
	return &a.blocks[i]
}

func (a *arena) index(p uint64) int {
	at := p - base
	if at >= uint64(len(a.bytes)) {
		return -1
	}
	n := len(a.blocks)
	i := n - 1 // often the latest one
	if a.blocks[i].at != uint32(at) {
		i = sort.Search(n, func(i int) bool { return a.blocks[i].at >= uint32(at) })
	}
	if i == n || a.blocks[i].at != uint32(at) || a.blocks[i].used == 0 {
		return -1
	}
	return i
}

// release frees the block at p, and reports whether there is one.
func (a *arena) release(p uint64) bool {
	i := a.index(p)
	if i < 0 {
		return false
	}
	a.touch(i)
	b := &a.blocks[i]
	c, _ := class(b.size)
	b.used, b.next, a.free[c] = 0, a.free[c], int32(i)
	return true
}

// touch notes that a block changes.
func (a *arena) touch(i int) { a.changed = a.changed || i < len(a.frozen.blocks) }

// text is what the block at p holds; ok is false where there is none. It is
// valid until the next allocation.
func (a *arena) text(p uint64) (text []byte, ok bool) {
	b := a.find(p)
	if b == nil {
		return nil, false
	}
	return a.bytes[b.at : b.at+b.used], true
}

// span is a range of the arena; ok is false where it is not wholly inside.
func (a *arena) span(p, n uint64) (b []byte, ok bool) {
	at := p - base
	if have := uint64(len(a.bytes)); at > have || n > have-at {
		return nil, false
	}
	return a.bytes[at : at+n], true
}

func (a *arena) load64(p uint64) (v uint64, ok bool) {
	at := p - base
	if at+8 < 8 || at+8 > uint64(len(a.bytes)) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(a.bytes[at:]), true
}

func (a *arena) store64(p, v uint64) bool {
	at := p - base
	if at+8 < 8 || at+8 > uint64(len(a.bytes)) {
		return false
	}
	a.wrote(p)
	binary.LittleEndian.PutUint64(a.bytes[at:], v)
	return true
}

func (a *arena) store8(p uint64, v byte) bool {
	at := p - base
	if at >= uint64(len(a.bytes)) {
		return false
	}
	a.wrote(p)
	a.bytes[at] = v
	return true
}

// wrote notes that bytes from p on change.
func (a *arena) wrote(p uint64) { a.changed = a.changed || p-base < uint64(len(a.frozen.bytes)) }

func (a *arena) freeze() {
	a.frozen = image{bytes: slices.Clone(a.bytes), top: a.top, blocks: slices.Clone(a.blocks), free: a.free}
}

// reset makes the arena what was frozen.
func (a *arena) reset() {
	bytes, blocks := len(a.frozen.bytes), len(a.frozen.blocks)
	if a.changed || len(a.bytes) < bytes || len(a.blocks) < blocks {
		a.grow(bytes)
		copy(a.bytes, a.frozen.bytes)
		a.blocks = append(a.blocks[:0], a.frozen.blocks...)
	}
	a.bytes, a.blocks = a.bytes[:bytes], a.blocks[:blocks]
	a.top, a.free, a.changed = a.frozen.top, a.frozen.free, false
	a.mostBytes, a.mostBlocks = bytes, blocks
}

// heavy reports whether the arena has grown too large to be kept for another call.
func (a *arena) heavy() bool {
	return cap(a.bytes) > keep+len(a.frozen.bytes) || cap(a.blocks) > keep/blockBytes+len(a.frozen.blocks)
}

// keep is how many bytes an arena may have to be kept for the next call.
const keep = 256 << 10
