package coding_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"armature/core/coding"
)

func TestBest(t *testing.T) {
	for _, tt := range []struct{ header, want string }{
		{"", ""}, {"identity", ""}, {"*", ""}, {"gzip", "gzip"}, {"zstd", "zstd"}, {"gzip, deflate, br, zstd", "zstd"},
		{"GZIP;q=0.5", "gzip"}, {"zstd;q=0, gzip ; q=1", "gzip"}, {"zstd;q=0.0", ""}, {"zstd;q=x", ""}, {"zstd;level=3", ""}, {"xzstd,gzipx", ""}, {",,;=;q=1", ""},
	} {
		if got := coding.Best(tt.header, coding.Zstd, coding.Gzip); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.header, got, tt.want)
		}
	}
}

// decoded reads what Write has written with the library of the other side.
func decoded(t *testing.T, how string, text []byte) []byte {
	t.Helper()
	var r io.Reader
	if how == coding.Gzip {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r = z
	} else {
		z, err := zstd.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Whoever writes at the same time, and whatever was written before, a body comes out
// as it went in, and smaller.
func TestWrite(t *testing.T) {
	for _, how := range []string{coding.Zstd, coding.Gzip} {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				for range 10 {
					body := bytes.Repeat([]byte{byte('a' + i), byte(rng.IntN(256)), 'x'}, 1+rng.IntN(200_000))
					var out bytes.Buffer
					if err := coding.Write(&out, how, body); err != nil {
						t.Error(err)
						return
					}
					if !bytes.Equal(decoded(t, how, out.Bytes()), body) || len(body) > 1000 && out.Len() > len(body)/2 {
						t.Errorf("%s: %d bytes became %d", how, len(body), out.Len())
					}
				}
			})
		}
		wg.Wait()
		if err := coding.Write(failing{}, how, bytes.Repeat([]byte("text"), 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: a client that has gone: %v", how, err)
		}
		var out bytes.Buffer
		if err := coding.Write(&out, how, []byte("after that")); err != nil || string(decoded(t, how, out.Bytes())) != "after that" {
			t.Errorf("%s: after a failure: %v", how, err)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func BenchmarkWrite(b *testing.B) {
	body := bytes.Repeat([]byte(`{"name":"kokh0i7kr8","owner":"Administrator","creation":"2026-11-21 03:02:51.320359","status":"Open","description":"buy milk"},`), 56)
	for _, how := range []string{coding.Zstd, coding.Gzip} {
		b.Run(how, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := coding.Write(&out, how, body); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}
