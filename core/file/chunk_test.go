package file_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chunked is an upload in pieces.
type chunked struct {
	s      *testSite
	as     string
	name   string
	pieces []string
	extra  []string
}

func (c chunked) total() int { return len(strings.Join(c.pieces, "")) }

// send uploads one piece; change are fields other than the right ones.
func (c chunked) send(i int, change ...string) *reply {
	c.s.t.Helper()
	fields := map[string]string{
		"chunk_index": fmt.Sprint(i), "total_chunk_count": fmt.Sprint(len(c.pieces)),
		"chunk_byte_offset": fmt.Sprint(len(strings.Join(c.pieces[:i], ""))), "total_file_size": fmt.Sprint(c.total()),
	}
	for n := 0; n+1 < len(change); n += 2 {
		fields[change[n]] = change[n+1]
	}
	var list []string
	for k, v := range fields {
		list = append(list, k, v)
	}
	return c.s.upload(c.as, c.name, c.pieces[i], append(list, c.extra...)...)
}

// kept demands the answer to every piece but the last.
func (c chunked) kept(i int) {
	c.s.t.Helper()
	if r := c.send(i).must(200); r.text != "{}" {
		c.s.t.Errorf("piece %d: %s", i, r.text)
	}
}

func TestChunks(t *testing.T) {
	each(t, func(s *testSite) {
		c := chunked{s: s, as: "ann", name: "big.bin", pieces: []string{"first ", "second ", "third"}, extra: []string{"is_private", "1"}}
		c.kept(0)
		c.kept(1)
		f := c.send(2).file()
		if f["file_size"] != 18.0 || !strings.HasPrefix(f["file_url"].(string), "/private/files/big-") {
			s.t.Errorf("%v", f)
		}
		if r := s.get("ann", urlPath(f)); r.text != "first second third" {
			s.t.Errorf("reads %q", r.text)
		}
		s.clean(1)
		// The same again, out of order, with a piece sent twice.
		c.kept(1)
		c.send(2).fails(417, "DataError")
		c.kept(0)
		c.kept(0)
		if again := c.send(2).file(); again["content_hash"] != f["content_hash"] || again["file_url"] == f["file_url"] {
			s.t.Errorf("%v", again)
		}
		s.clean(1)
		if left := s.stored("part/"); len(left) != 0 {
			s.t.Errorf("left %v", left)
		}
		// In one chunk.
		chunked{s: s, as: "ann", name: "one.bin", pieces: []string{"only"}}.send(0).file()
	})
}

func TestBadChunks(t *testing.T) {
	s := newSite(t, "")
	s.set("max_file_size", "100")
	c := chunked{s: s, as: "ann", name: "x.bin", pieces: []string{"aaaa", "bbbb", "cccc"}}
	tests := []struct {
		name   string
		field  string
		value  string
		status int
		typ    string
	}{
		{"beyond the end", "chunk_byte_offset", "10", 417, "DataError"},
		{"far beyond", "chunk_byte_offset", "9223372036854775807", 417, "DataError"},
		{"negative", "chunk_byte_offset", "-1", 417, "DataError"},
		{"too large in all", "total_file_size", "101", 417, "MaxFileSizeReachedError"},
		{"enormous", "total_file_size", "9223372036854775807", 417, "MaxFileSizeReachedError"},
		{"no number", "total_file_size", "many", 417, "DataError"},
		{"too many", "total_chunk_count", "10001", 417, "DataError"},
		{"index above", "chunk_index", "3", 417, "DataError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c.send(0, tt.field, tt.value).fails(tt.status, tt.typ)
		})
	}
	if left := s.stored("part/"); len(left) != 0 {
		t.Errorf("stored %v", left)
	}
	t.Run("gap", func(t *testing.T) {
		c.kept(0)
		c.send(1, "chunk_byte_offset", "5").must(200)
		c.send(2).fails(417, "DataError")
	})
	t.Run("overlap", func(t *testing.T) {
		c.kept(0)
		c.send(1, "chunk_byte_offset", "3").must(200)
		c.send(2).fails(417, "DataError")
	})
	t.Run("two of one index", func(t *testing.T) {
		c.kept(0)
		c.kept(1)
		c.send(1, "chunk_byte_offset", "0").must(200)
		c.send(2).fails(417, "DataError")
	})
	t.Run("shorter than said", func(t *testing.T) {
		short := c
		short.pieces = []string{"aaaa", "bbbb", "cc"}
		short.send(0, "total_file_size", "12").must(200)
		short.send(1, "total_file_size", "12").must(200)
		short.send(2, "total_file_size", "12").fails(417, "DataError")
	})
	t.Run("missing", func(t *testing.T) {
		c.send(2).fails(417, "DataError")
	})
	t.Run("another user's", func(t *testing.T) {
		other := c
		other.as = "bob"
		c.kept(0)
		c.kept(1)
		other.send(2).fails(417, "DataError")
		c.send(2).file()
	})
	t.Run("no right", func(t *testing.T) {
		not := c
		not.extra = []string{"doctype", "User", "docname", "Administrator"}
		not.send(0).fails(403, "PermissionError")
	})
	t.Run("a Guest without an id", func(t *testing.T) {
		s.set("allow_guests_to_upload_files", "1")
		guest := c
		guest.as, guest.name = "", "x.txt"
		guest.send(0).fails(417, "DataError")
		guest.extra = []string{"upload_id", rand.Text()}
		guest.kept(0)
		guest.kept(1)
		guest.send(2).file()
	})
	t.Run("too much unfinished", func(t *testing.T) {
		s.later(25 * time.Hour) // whatever was sent before is forgotten
		s.mu.Lock()
		s.now = time.Now
		s.mu.Unlock()
		refused := false
		for i := range 12 {
			many := chunked{s: s, as: "ann", name: fmt.Sprint(i), pieces: []string{strings.Repeat("x", 45), strings.Repeat("y", 45)}}
			refused = refused || many.send(0).status == 429
		}
		if !refused {
			t.Error("nothing bounds what is left unfinished")
		}
	})
	s.clean(1) // ann's and the Guest's are the same content
}

// TestFinishAtOnce sends the last piece from two clients: one gets the File.
func TestFinishAtOnce(t *testing.T) {
	each(t, func(s *testSite) {
		c := chunked{s: s, as: "ann", name: "x.bin", pieces: []string{strings.Repeat("a", 1<<16), "b"}}
		c.kept(0)
		var done atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if r := c.send(1); r.status == 200 {
					done.Add(1)
				} else {
					r.fails(417, "DataError")
				}
			})
		}
		wg.Wait()
		if done.Load() != 1 {
			s.t.Errorf("%d clients got the File", done.Load())
		}
		s.clean(1)
	})
}

// TestChunksSurviveAFailure: the last piece can be sent again.
func TestChunksSurviveAFailure(t *testing.T) {
	s := newSite(t, "")
	c := chunked{s: s, as: "ann", name: "x.bin", pieces: []string{"a", "b"}}
	c.kept(0)
	s.storage.broken.Store(true)
	c.send(1).fails(503, "ServiceUnavailable")
	s.storage.broken.Store(false)
	c.send(1).file()
	s.clean(1)
}
