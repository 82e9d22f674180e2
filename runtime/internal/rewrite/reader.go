package rewrite

import "unicode/utf8"

// reader reads the binary format; it leaves by fail when the input ends early
// or a number is too long.
type reader struct {
	b    []byte
	at   int
	what string // what is being read, for messages
}

func (r *reader) more() bool { return r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		fail("%s ends early", r.what)
	}
	c := r.b[r.at]
	r.at++
	return c
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.at) {
		fail("%s ends early", r.what)
	}
	s := r.b[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return s
}

func (r *reader) u32() uint32 {
	// Nearly all numbers have one byte.
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		c := r.b[r.at]
		r.at++
		return uint32(c)
	}
	var x uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		x |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if x > 1<<32-1 {
				break
			}
			return uint32(x)
		}
	}
	fail("%s has a number that does not fit 32 bits", r.what)
	return 0
}

// signed reads a signed number of at most bits bits.
func (r *reader) signed(bits int) int64 {
	var x int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		x |= int64(c&0x7f) << shift
		if c < 0x80 {
			if shift+7 < 64 && c&0x40 != 0 {
				x |= -1 << (shift + 7)
			}
			return x
		}
	}
	fail("%s has a number that does not fit %d bits", r.what, bits)
	return 0
}

// count reads the length of a vector whose elements take at least one byte
// each, so that a lie about it cannot make us allocate.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) {
		fail("%s counts %d elements in %d bytes", r.what, n, len(r.b)-r.at)
	}
	return n
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		fail("%s has a name that is not UTF-8", r.what)
	}
	return string(b)
}

// end checks that nothing is left.
func (r *reader) end() {
	if r.more() {
		fail("%s has %d bytes too many", r.what, len(r.b)-r.at)
	}
}

func putU(b []byte, x uint64) []byte {
	for x >= 0x80 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

func putS(b []byte, x int64) []byte {
	for {
		c := byte(x & 0x7f)
		x >>= 7
		if x == 0 && c&0x40 == 0 || x == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func putName(b []byte, s string) []byte {
	return append(putU(b, uint64(len(s))), s...)
}

func putBytes(b, s []byte) []byte {
	return append(putU(b, uint64(len(s))), s...)
}
