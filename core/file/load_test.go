package file_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"runtime"
	"sync"
	"testing"
)

// TestMemoryStaysBounded uploads 16 files of 8 MiB at once while 16 connections
// read one. Nothing holds a file whole: 128 MiB go through a heap that may grow
// by a fraction of it.
func TestMemoryStaysBounded(t *testing.T) {
	const clients, size, allowed = 16, 8 << 20, 48 << 20
	s := newSite(t, "")
	s.upload("ann", "read.txt", "read me").must(200)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	most := uint64(0)
	var mu sync.Mutex
	measure := func() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		mu.Lock()
		defer mu.Unlock()
		most = max(most, now.HeapInuse)
	}
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range clients {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.get("", "/files/read.txt")
				}
			}
		})
	}
	for n := range clients {
		writers.Go(func() {
			s.stream(t, fmt.Sprintf("big%d.bin", n), byte(n), size, measure)
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	grown := int64(most) - int64(before.HeapInuse)
	t.Logf("heap in use grew by at most %.1f MiB while %d MiB were uploaded", float64(grown)/(1<<20), clients*size>>20)
	if grown > allowed {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	s.clean(clients + 1)
}

// stream uploads a file that the client holds no more of than the server.
func (s *testSite) stream(t *testing.T, name string, fill byte, size int, each func()) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, _ := form.CreateFormFile("file", name)
		block := make([]byte, 64<<10)
		for i := range block {
			block[i] = fill
		}
		for sent := 0; sent < size; sent += len(block) {
			if _, err := part.Write(block); err != nil {
				return
			}
			if sent%(1<<20) == 0 {
				each()
			}
		}
		_ = w.CloseWithError(form.Close())
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/method/upload_file", r)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-Test-User", "ann")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		t.Errorf("%d %s", res.StatusCode, text)
	}
}
