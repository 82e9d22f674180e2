package egress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/egress"
	"armature/core/fault"
)

// seen is what reached the server.
type seen struct {
	Method, URI, Host, Body string
	Header                  http.Header
}

func mirror(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header()["X-Two"] = []string{"1", "2"}
	w.Header().Set("Keep-Alive", "timeout=5")
	_ = json.NewEncoder(w).Encode(seen{r.Method, r.RequestURI, r.Host, string(body), r.Header})
}

func read(t *testing.T, r *egress.Response) (s seen) {
	t.Helper()
	if err := json.Unmarshal(r.Body, &s); err != nil {
		t.Fatalf("answer %d %q: %v", r.Status, r.Body, err)
	}
	return s
}

func TestDo(t *testing.T) {
	w := newWorld(t, mirror)
	resp := w.do(w.policy(), egress.Request{
		Method: "post", URL: w.url("App.Test.", "/a b?c=d e#f"), Body: []byte("body"),
		Header: http.Header{"x-api-key": {"k"}, "Cookie": {"a=b"}},
	})
	got := read(t, resp)
	if got.Method != "POST" || got.URI != "/a%20b?c=d%20e" || got.Host != "app.test:"+w.port || got.Body != "body" {
		t.Errorf("the server saw %+v", got)
	}
	if got.Header.Get("X-Api-Key") != "k" || got.Header.Get("Cookie") != "a=b" || got.Header.Get("User-Agent") != "Armature" {
		t.Errorf("the server saw the header %v", got.Header)
	}
	if resp.Status != 200 || fmt.Sprint(resp.Header["X-Two"]) != "[1 2]" || resp.Header.Get("Keep-Alive") != "" {
		t.Errorf("answer %+v", resp)
	}
	if got := read(t, w.get(w.policy(), "/")); got.Method != "GET" || got.Header.Get("Cookie") != "" {
		t.Errorf("the server saw %+v", got)
	}
}

func TestEveryStatusIsAnAnswer(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
	})
	for _, status := range []int{200, 204, 300, 302, 304, 400, 404, 500, 599} {
		if got := w.get(w.policy(), fmt.Sprint("/", status)); got.Status != status {
			t.Errorf("status %d became %d", status, got.Status)
		}
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t, mirror)
	u := w.url("app.test", "/")
	for _, m := range []string{"CONNECT", "TRACE", "BREW", "GET /x HTTP/1.1\r\nHost: y\r\n\r\nGET", " GET", "G\x00T"} {
		p := w.policy()
		p.Methods = []string{m}
		w.refused(fault.Permission, p, egress.Request{Method: m, URL: u})
	}
	p := w.policy()
	p.Methods = []string{"GET"}
	w.refused(fault.Permission, p, egress.Request{Method: "POST", URL: u})
	if got := w.do(w.policy(), egress.Request{Method: "HEAD", URL: u}); got.Status != 200 || len(got.Body) != 0 {
		t.Errorf("HEAD: %+v", got)
	}
}

func TestHeadersRefused(t *testing.T) {
	w := newWorld(t, mirror)
	for _, h := range []http.Header{
		{"Host": {"inside.test"}}, {"host": {"inside.test"}}, {"Connection": {"keep-alive"}}, {"content-length": {"3"}},
		{"Transfer-Encoding": {"chunked"}}, {"TE": {"trailers"}}, {"Trailer": {"X"}}, {"Upgrade": {"websocket"}}, {"Keep-Alive": {"1"}},
		{"Proxy-Authorization": {"x"}}, {"proxy-connection": {"x"}}, {"Expect": {"100-continue"}}, {"HTTP2-Settings": {"x"}},
		{"X-A": {"a\r\nHost: b"}}, {"X-A": {"a\nb"}}, {"X-A": {"a\x00"}}, {"X-A": {"\x7f"}}, {"": {"x"}}, {"X A": {"x"}}, {"X-A:": {"x"}},
		{"X-A\r\nX-B": {"x"}}, {"X-Ä": {"x"}}, {"X-A": {"1"}, "x-a": {"2"}}, {"X-Long": {strings.Repeat("x", 70<<10)}},
	} {
		w.refused(fault.Validation, w.policy(), egress.Request{URL: w.url("app.test", "/"), Header: h})
	}
	if n := w.dialled.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestRequestBody(t *testing.T) {
	w := newWorld(t, mirror)
	p := w.policy()
	p.MaxRequestBody = 4
	if got := read(t, w.do(p, egress.Request{Method: "PUT", URL: w.url("app.test", "/"), Body: []byte("1234")})); got.Body != "1234" {
		t.Errorf("the server saw %+v", got)
	}
	w.refused(fault.TooLarge, p, egress.Request{Method: "PUT", URL: w.url("app.test", "/"), Body: []byte("12345")})
}

// TestSlow: time is up while a server thinks, and while it sends.
func TestSlow(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = w.Write([]byte("begun"))
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	})
	p := w.policy()
	p.Timeout = 50 * time.Millisecond
	for _, path := range []string{"/", "/body"} {
		w.refused(fault.Timeout, p, egress.Request{URL: w.url("app.test", path)})
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := w.client.Do(ctx, w.policy(), egress.Request{URL: w.url("app.test", "/")}); fault.KindOf(err) != fault.Timeout {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := w.client.Do(ctx, w.policy(), egress.Request{URL: w.url("app.test", "/")}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
}

// TestBrokenAnswers: what a server sends may be anything.
func TestBrokenAnswers(t *testing.T) {
	var answer string
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, answer)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	})
	for _, a := range []string{
		"", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1<<10)+"\r\n\r\n", 100),
	} {
		answer = a
		w.refused(fault.Unavailable, w.policy(), egress.Request{URL: w.url("app.test", "/")})
	}
}

func TestConcurrentCalls(t *testing.T) {
	w := newWorld(t, mirror)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				text := fmt.Sprint(i, " ", j)
				resp, err := w.client.Do(t.Context(), w.policy(), egress.Request{Method: "POST", URL: w.url("app.test", "/"), Body: []byte(text)})
				var got seen
				if err != nil || json.Unmarshal(resp.Body, &got) != nil || got.Body != text {
					t.Errorf("%s: %v, %+v", text, err, got)
				}
			}
		})
	}
	wg.Wait()
}
