package linear_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"armature/runtime/engine/internal/linear"
)

const wasmPage = 64 << 10

// each runs a test with every method this system has.
func each(t *testing.T, test func(t *testing.T, mk linear.Maker)) {
	for _, method := range []linear.Method{linear.Scan, linear.Pagemap, linear.Copy, linear.Heap} {
		t.Run(string(method), func(t *testing.T) {
			mk, err := linear.Open(method)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = mk.Close() })
			test(t, mk)
		})
	}
}

// contents has zero pages at the end and in between.
func contents() []byte {
	b := make([]byte, 3*wasmPage)
	for i := range wasmPage {
		b[i] = byte(i * 7)
	}
	copy(b[2*wasmPage:], "the last bytes")
	return b
}

func TestResetRestores(t *testing.T) {
	each(t, func(t *testing.T, mk linear.Maker) {
		want := contents()
		im, err := mk.Freeze(want)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = im.Close() }()
		const limit = 64 * wasmPage
		m, err := im.Clone(limit)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		b := m.Reallocate(wasmPage)
		rnd := rand.New(rand.NewPCG(1, 2))
		for round := range 500 {
			if !bytes.Equal(b, want) {
				t.Fatalf("round %d starts with other contents", round)
			}
			m.Begin(limit, nil)
			if round%3 == 0 {
				b = m.Reallocate(uint64(4+rnd.IntN(60)) * wasmPage)
				if !bytes.Equal(b[len(want):], make([]byte, len(b)-len(want))) {
					t.Fatalf("round %d finds grown memory dirty", round)
				}
			}
			for range rnd.IntN(40) {
				b[rnd.IntN(len(b))] = byte(rnd.Int())
			}
			if round%50 == 0 {
				for i := 0; i < len(b); i += 4096 {
					b[i]++
				}
			}
			_, long, err := m.Reset()
			if err != nil {
				t.Fatal(err)
			}
			if long != (len(b) != len(want)) {
				t.Fatalf("round %d: long is %t at %d bytes", round, long, len(b))
			}
			if long {
				m.Shrink()
				b = m.Reallocate(uint64(len(b)) + wasmPage)
			}
			if round%70 == 0 {
				if err := m.Trim(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestClonesAreApart(t *testing.T) {
	each(t, func(t *testing.T, mk linear.Maker) {
		im, err := mk.Freeze(contents())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = im.Close() }()
		var memories [][]byte
		for i := range 4 {
			m, err := im.Clone(8 * wasmPage)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close() }()
			b := m.Reallocate(0)
			b[100] = byte(200 + i)
			memories = append(memories, b)
		}
		for i, b := range memories {
			if b[100] != byte(200+i) {
				t.Errorf("clone %d reads %d", i, b[100])
			}
		}
		if im.Bytes()[100] != contents()[100] {
			t.Error("the image has changed")
		}
	})
}

func TestLimit(t *testing.T) {
	each(t, func(t *testing.T, mk linear.Maker) {
		m, err := mk.New(8 * wasmPage)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		m.Begin(4*wasmPage, nil)
		for pages, ok := range map[uint64]bool{5: false, 4: true, 9: false} {
			if got := m.Reallocate(pages*wasmPage) != nil; got != ok {
				t.Errorf("%d pages: %t", pages, got)
			}
		}
		if m.Refused() == 0 || m.Peak() != 4*wasmPage {
			t.Errorf("refused %d, peak %d", m.Refused(), m.Peak())
		}
		m.Begin(0, nil)
		if m.Reallocate(8*wasmPage) == nil || m.Reallocate(9*wasmPage) != nil {
			t.Error("the ceiling is not where it was put")
		}
	})
}

func BenchmarkReset(b *testing.B) {
	for _, method := range []linear.Method{linear.Scan, linear.Pagemap, linear.Copy} {
		for _, size := range []int{2, 64, 512} {
			for _, dirty := range []int{2, 16, 100} {
				b.Run(fmt.Sprintf("%s/%dKiB/%d", method, size*64, dirty), func(b *testing.B) {
					mk, err := linear.Open(method)
					if err != nil {
						b.Skip(err)
					}
					im, err := mk.Freeze(bytes.Repeat([]byte{1}, size*wasmPage))
					if err != nil {
						b.Fatal(err)
					}
					m, err := im.Clone(uint64(size) * wasmPage)
					if err != nil {
						b.Fatal(err)
					}
					mem := m.Reallocate(0)
					b.ReportAllocs()
					for b.Loop() {
						for i := range min(dirty, size*16) {
							mem[i*4096]++
						}
						if _, _, err := m.Reset(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
