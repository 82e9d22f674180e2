package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/ratelimit"
	"armature/core/site"
)

// limit gives the test site limits.
func (s *testSite) limit(t *testing.T, config string) {
	t.Helper()
	c, err := site.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := site.New(site.Options{Name: "test", Config: c})
	if err != nil {
		t.Fatal(err)
	}
	s.site.Limiter = ratelimit.New(tenant, ratelimit.Local(), nil)
}

func TestBudgetOfTheSite(t *testing.T) {
	s := newSite(t)
	if a := s.do(request{path: "/api/method/ping"}).must(200); a.header.Get("X-Ratelimit-Limit") != "" {
		t.Errorf("headers without a limit: %v", a.header)
	}
	s.limit(t, `{"rate_limit": {"limit": 0.000001, "window": 86400}}`) // the first request spends it
	a := s.do(request{as: "nobody", path: "/api/method/ping"}).must(401)
	if a.header.Get("X-Ratelimit-Limit") != "1" || a.header.Get("X-Ratelimit-Used") == "" || a.header.Get("Retry-After") != "" {
		t.Errorf("headers %v", a.header)
	}
	a = s.do(request{as: "nobody", path: "/api/method/ping"}).must(429)
	if a.body["exc_type"] != "RateLimitExceededError" || a.header.Get("X-Ratelimit-Remaining") != "0" ||
		a.header.Get("X-Ratelimit-Used") != "" || a.header.Get("Retry-After") == "" {
		t.Errorf("%v %s", a.header, a.text)
	}
}

func TestBudgetsOfCallers(t *testing.T) {
	s := newSite(t)
	s.limit(t, `{"budgets": {"user": {"limit": 0.000001, "window": 86400}}, "call_limits": {"test.echo": {"limit": 1, "ip": false, "argument": "a"}}}`)
	s.do(request{as: "web", path: "/api/method/ping"}).must(200)
	a := s.do(request{as: "web", path: "/api/method/ping"}).must(429)
	if a.header.Get("Retry-After") == "" {
		t.Errorf("headers %v", a.header)
	}
	s.do(request{as: "desk", path: "/api/method/test.echo?a=x"}).must(200)
	s.do(request{path: "/api/method/test.echo?a=y"}).must(200)
	s.do(request{as: "admin", path: "/api/method/oldbrand.ping?a=x"})
	if a = s.do(request{as: "admin", path: "/api/method/test.echo?a=x"}).must(429); a.body["exc_type"] != "RateLimitExceededError" {
		t.Error(a.text)
	}
}

// TestUsedIsWhatIsCharged compares what parallel answers say with the counter.
func TestUsedIsWhatIsCharged(t *testing.T) {
	s := newSite(t)
	s.limit(t, `{"rate_limit": {"limit": 31622400, "window": 31622400}}`)
	server := httptest.NewServer(s.handler)
	defer server.Close()
	var said atomic.Int64
	get := func(path string) http.Header {
		res, err := http.Get(server.URL + path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.Header
	}
	paths := strings.Fields("/api/method/ping /api/method/test.echo?a=1 /api/resource/ToDo /api/nothing /api/method/test.panics /api/method/test.unencodable / /api/method/test.rawbreaks")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				n, _ := strconv.ParseInt(get(paths[i%(len(paths)-1)]).Get("X-Ratelimit-Used"), 10, 64)
				if n <= 0 {
					t.Errorf("%s: used %d", paths[i%(len(paths)-1)], n)
				}
				said.Add(n)
			}
		})
	}
	wg.Wait()
	h := get("/api/method/ping")
	remaining, _ := strconv.ParseInt(h.Get("X-Ratelimit-Remaining"), 10, 64)
	if used := int64(31622400e6) - remaining; used != said.Load() {
		t.Errorf("%d on the counter, the answers say %d", used, said.Load())
	}
}
