package egress_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"testing"

	"armature/core/egress"
	"armature/core/fault"
)

func compress(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBodyLimit(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		var size int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &size)
		if r.URL.RawQuery == "chunked" {
			_ = http.NewResponseController(w).Flush()
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		_, _ = w.Write(make([]byte, size))
	})
	p := w.policy()
	p.MaxBody = 100_000
	for _, query := range []string{"", "?chunked"} {
		if got := w.get(p, "/100000"+query); len(got.Body) != 100_000 {
			t.Errorf("%d bytes", len(got.Body))
		}
		w.refused(fault.TooLarge, p, egress.Request{URL: w.url("app.test", "/100001"+query)})
		w.refused(fault.TooLarge, p, egress.Request{URL: w.url("app.test", "/5000000"+query)})
	}
	if got := w.do(p, egress.Request{Method: "HEAD", URL: w.url("app.test", "/100001")}); got.Header.Get("Content-Length") != "100001" {
		t.Errorf("HEAD: %+v", got)
	}
}

// TestEndlessBody: what is over the limit is not read to its end.
func TestEndlessBody(t *testing.T) {
	done := make(chan struct{})
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	w.refused(fault.TooLarge, w.policy(), egress.Request{URL: w.url("app.test", "/")})
	<-done
}

func TestCompressedBody(t *testing.T) {
	text := bytes.Repeat([]byte("text "), 1000)
	plain, empty := compress(t, text), compress(t, nil)
	var body []byte
	encoding := "gzip"
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", encoding)
		_, _ = w.Write(body)
	})
	p := w.policy()
	p.MaxBody = 5000

	body = plain
	got := w.get(p, "/")
	if !bytes.Equal(got.Body, text) || got.Header.Get("X-Asked") != "gzip" || got.Header.Get("Content-Encoding") != "" || got.Header.Get("Content-Length") != "" {
		t.Errorf("%d bytes, header %v", len(got.Body), got.Header)
	}
	for _, h := range []http.Header{{"accept-encoding": {"gzip, br"}}, {"Range": {"bytes=0-"}}} {
		got = w.do(p, egress.Request{URL: w.url("app.test", "/"), Header: h})
		if !bytes.Equal(got.Body, plain) || got.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("with %v: %d bytes, header %v", h, len(got.Body), got.Header)
		}
	}
	body = nil
	if got := w.get(p, "/"); len(got.Body) != 0 {
		t.Errorf("nothing became %q", got.Body)
	}

	// A bomb: 4 MiB in 4 KiB. And a body that never comes to hold anything.
	for _, bomb := range [][]byte{compress(t, make([]byte, 4<<20)), bytes.Repeat(empty, 10_000), compress(t, append(text, 'x'))} {
		body = bomb
		w.refused(fault.TooLarge, p, egress.Request{URL: w.url("app.test", "/")})
	}

	body, encoding = []byte("what is not asked for"), "br"
	if got := w.get(p, "/"); string(got.Body) != string(body) || got.Header.Get("Content-Encoding") != "br" {
		t.Errorf("answer %+v", got)
	}
}
