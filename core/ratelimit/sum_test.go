package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/ratelimit"
)

// redisURL names the server to test on. Where tests must not be left out it has
// to be there.
func redisURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("ARMATURE_TEST_REDIS")
	if url == "" && os.Getenv("CI") == "true" {
		t.Fatal("ARMATURE_TEST_REDIS is not set, and CI must test Redis")
	}
	if url == "" {
		t.Skip("Redis is not tested: set ARMATURE_TEST_REDIS=redis://host:port")
	}
	return patient(url)
}

// patient makes processes wait for a Redis that is slow because the machine is
// busy, where a test compares what they count there.
func patient(url string) string {
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	return url + mark + "dial_timeout=30s&read_timeout=30s&write_timeout=30s&pool_timeout=30s"
}

// newPrefix is one nobody has used on the server before.
func newPrefix() string { return fmt.Sprintf("armature:test:%d:%x", os.Getpid(), rand.Uint64()) }

// crossings are stretches of time with a change of window in the middle, and what
// kind of change.
var crossings = []struct {
	name, from string // UTC
	window     int64
}{
	{"a window change", "2026-03-01 09:58:20", 3600},
	{"several", "2026-03-01 09:58:20", 45},
	{"clocks set forward", "2026-03-29 00:58:20", 3600},
	{"clocks set forward inside a window", "2026-03-29 00:58:20", 7000},
	{"clocks set back", "2026-10-25 00:58:20", 3600},
	{"clocks set back inside a window", "2026-10-25 00:58:20", 7000},
}

func TestCounterIsTheSumOfWhatAnswersSay(t *testing.T) {
	for _, x := range crossings {
		t.Run("in memory/"+x.name, func(t *testing.T) {
			sum(t, x.from, x.window, newCounters(t, ratelimit.Options{}))
		})
		t.Run("in Redis/"+x.name, func(t *testing.T) {
			o := ratelimit.Options{Redis: redisURL(t), Prefix: newPrefix()}
			sum(t, x.from, x.window, newCounters(t, o), newCounters(t, o), newCounters(t, o))
		})
	}
}

// sum runs requests in parallel on every process, while 200 seconds pass, and
// compares the counters with what the headers of the answers said.
func sum(t *testing.T, from string, window int64, processes ...*ratelimit.Counters) {
	const parallel, each = 8, 60
	start := mustTime(t, "UTC", from)
	c := newClock(start)
	s := newSite(t, "one", fmt.Sprintf(`{"time_zone": "Europe/Berlin", "rate_limit": {"limit": 1e6, "window": %d}}`, window), c)
	said := newLedger(s.Location(), window)
	var wg sync.WaitGroup
	limiters := make([]*ratelimit.Limiter, len(processes))
	for i, counters := range processes {
		limiters[i] = ratelimit.New(s, counters, nil)
		for range parallel {
			wg.Go(func() {
				for range each {
					arrived := c.add(200 * time.Second / time.Duration(parallel*each*len(processes)))
					h := request(t, limiters[i], arrived, time.Duration(rand.Int64N(int64(time.Second))))
					said.note(arrived, number(t, h, "X-RateLimit-Used"))
				}
			})
		}
	}
	wg.Wait()
	if len(said.total) < 2 {
		t.Fatalf("%d windows: no window changed", len(said.total))
	}
	for key, total := range said.total {
		for i, l := range limiters {
			if n := counted(t, l, said.at[key]); n != total {
				t.Errorf("process %d, window of %s: %d on the counter, the answers say %d", i, said.at[key], n, total)
			}
		}
	}
}

// ledger adds up what answers say, by window.
type ledger struct {
	zone   *time.Location
	window int64 // seconds

	mu    sync.Mutex
	total map[[2]int64]int64
	at    map[[2]int64]time.Time // a moment in the window
}

func newLedger(zone *time.Location, window int64) *ledger {
	return &ledger{zone: zone, window: window, total: make(map[[2]int64]int64), at: make(map[[2]int64]time.Time)}
}

func (l *ledger) note(arrived time.Time, used int64) {
	_, offset := arrived.In(l.zone).Zone()
	key := [2]int64{int64(offset), (arrived.Unix() + int64(offset)) / l.window}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total[key] += used
	l.at[key] = arrived
}

// TestParallelRequestsAtTheLimit: however many run at once, what they use is
// counted, and from the limit on all are refused.
func TestParallelRequestsAtTheLimit(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{"rate_limit": {"limit": 1, "window": 60}}`, c)
	said := newLedger(time.UTC, 60)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				h := make(http.Header)
				d, err := l.Begin(t.Context(), h, c.Now())
				if err != nil {
					d.End(t.Context(), h, http.StatusTooManyRequests, time.Millisecond)
					if h.Get("X-RateLimit-Used") != "" || h.Get("Retry-After") != "60" {
						t.Errorf("headers of a refusal: %v", h)
					}
					continue
				}
				d.End(t.Context(), h, http.StatusOK, 5*time.Millisecond)
				said.note(c.Now(), number(t, h, "X-RateLimit-Used"))
			}
		})
	}
	wg.Wait()
	var total int64
	for _, n := range said.total {
		total = n
	}
	if total < 1e6 || total > 1e6+8*5000 {
		t.Errorf("the answers say %d", total)
	}
}
