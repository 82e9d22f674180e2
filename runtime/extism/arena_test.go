package extism

import (
	"bytes"
	"testing"
)

func TestClasses(t *testing.T) {
	last := uint32(0)
	for n := uint32(1); n < 1<<20; n++ {
		c, size := class(n)
		switch again, same := class(size); {
		case size < n, n > 64 && size > n+n/4, size%16 != 0, size < last:
			t.Fatalf("%d bytes get %d", n, size)
		case again != c || same != size:
			t.Fatalf("a block for %d bytes is of class %d, and of %d when it is free", n, c, again)
		}
		last = size
	}
	if c, size := class(maxArena); c >= classes || size != maxArena {
		t.Errorf("the largest block is of class %d of %d, %d bytes", c, classes, size)
	}
}

// FuzzArena takes, writes, frees and resets in any order and compares with a plain
// map: no block changes but by its owner, and a reset brings back what was frozen.
func FuzzArena(f *testing.F) {
	f.Add([]byte{0, 10, 0, 200, 1, 0, 0, 9, 2, 0, 3, 0, 0, 100})
	f.Add([]byte{0, 1, 0, 1, 0, 1, 3, 0, 1, 1, 1, 1, 0, 1, 3, 0, 4, 255})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var room []byte
		a := &arena{room: func(n int) []byte {
			room = append(room, make([]byte, max(n-len(room), 0))...)
			return room[:len(room):len(room)]
		}}
		a.clear()
		type owned struct {
			p    uint64
			text []byte
		}
		var live, frozen []owned
		for i := 0; i+1 < len(ops); i += 2 {
			n := uint32(ops[i+1])
			switch ops[i] % 5 {
			case 0: // take
				n = n*n/7 + 1
				p := a.reuse(n)
				if p == 0 {
					p = a.extend(n)
				}
				text := bytes.Repeat([]byte{byte(i) | 1}, int(n))
				for j := range text {
					if !a.store8(p+uint64(j), text[j]) {
						t.Fatalf("byte %d of a block of %d is outside", j, n)
					}
				}
				live = append(live, owned{p, text})
			case 1: // free
				if len(live) > 0 {
					j := int(n) % len(live)
					if !a.release(live[j].p) || a.release(live[j].p) {
						t.Fatal("a block is not freed once")
					}
					live = append(live[:j:j], live[j+1:]...)
				}
			case 2: // reset
				if i > 0 && a.frozen.bytes != nil {
					a.reset()
					live = append([]owned(nil), frozen...)
				}
			case 3: // freeze, once
				if a.frozen.bytes == nil {
					a.freeze()
					frozen = append([]owned(nil), live...)
				}
			case 4: // reach anywhere
				p := uint64(n) * 977
				a.load64(p)
				a.load64(-p)
				a.find(p)
				a.span(p, uint64(n))
				a.beyond(p, 8)
			}
			for _, o := range live {
				if got, ok := a.text(o.p); !ok || !bytes.Equal(got, o.text) {
					t.Fatalf("after %v the block at %d has %v, want %v", ops[:i+2], o.p, got, o.text)
				}
			}
		}
	})
}
