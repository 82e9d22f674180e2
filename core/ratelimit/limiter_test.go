package ratelimit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/ratelimit"
	"armature/core/site"
)

func TestOffByDefault(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{}`, c)
	if h := request(t, l, c.Now(), time.Second); len(h) != 0 {
		t.Errorf("headers without a limit: %v", h)
	}
	d, err := l.Begin(t.Context(), make(http.Header), c.Now())
	if err == nil {
		err = d.Admit(t.Context(), make(http.Header), ratelimit.Subject{User: "a@example.com"})
	}
	if err != nil {
		t.Error(err)
	}
}

func TestHeaders(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{"rate_limit": {"limit": 1.5, "window": 3600}}`, c)
	tests := []struct {
		name   string
		after  time.Duration // since the window began
		used   time.Duration
		limit  string
		remain string
		reset  string
		spent  string // empty: 429
	}{
		{"the first of a window", 0, 400 * time.Millisecond, "1500000", "1500000", "3600", "400000"},
		{"sees what was used", 1500 * time.Millisecond, 600*time.Millisecond + 100*time.Nanosecond, "1500000", "1100000", "3599", "600001"},
		{"crosses the limit, and is served", time.Minute, time.Second, "1500000", "499999", "3540", "1000000"},
		{"is refused", 59*time.Minute + 59900*time.Millisecond, time.Second, "1500000", "0", "1", ""},
		{"the next window", time.Hour, time.Microsecond, "1500000", "1500000", "3600", "1"},
	}
	start := c.Now()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := request(t, l, start.Add(tt.after), tt.used)
			retry := ""
			if tt.spent == "" {
				retry = tt.reset
			}
			for name, want := range map[string]string{
				"X-RateLimit-Limit": tt.limit, "X-RateLimit-Remaining": tt.remain, "X-RateLimit-Reset": tt.reset,
				"X-RateLimit-Used": tt.spent, "Retry-After": retry,
			} {
				if got := h.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{"rate_limit": {"limit": 1, "window": 60}}`, c)
	request(t, l, c.Now(), time.Second) // remaining is now 0 exactly
	for range 3 {
		_, err := l.Begin(t.Context(), make(http.Header), c.Now())
		e := fault.From(err)
		if err == nil || e.Kind != fault.TooManyRequests || e.ExcType() != "RateLimitExceededError" {
			t.Fatalf("a spent budget: %v", err)
		}
		h := make(http.Header)
		var refusal *ratelimit.Refusal
		if !errors.As(e, &refusal) {
			t.Fatal("the fault has no refusal")
		}
		refusal.SetHeaders(h)
		if h.Get("Retry-After") != "60" || h.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("headers of the refusal: %v", h)
		}
		request(t, l, c.Now(), time.Hour) // refused, so not charged
	}
	if n := counted(t, l, c.add(time.Minute)); n != 0 {
		t.Errorf("the next window begins with %d", n)
	}
}

func TestAnswersWith429AreNotCharged(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{"rate_limit": {"limit": 1, "window": 60}}`, c)
	h := make(http.Header)
	d, err := l.Begin(t.Context(), h, c.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.End(t.Context(), h, http.StatusTooManyRequests, time.Second)
	d.End(t.Context(), h, http.StatusOK, time.Second) // only the first counts
	if n := counted(t, l, c.Now()); n != 0 || h.Get("X-RateLimit-Used") != "" {
		t.Errorf("charged %d, header %q", n, h.Get("X-RateLimit-Used"))
	}
}

func TestChangesApplyAtOnce(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	s := newSite(t, "one", `{}`, c)
	var log bytes.Buffer
	l := ratelimit.New(s, newCounters(t, ratelimit.Options{}), slog.New(slog.NewTextHandler(&log, nil)))
	steps := []struct {
		name, config string
		limit, left  string
	}{
		{"off", `{}`, "", ""},
		{"on", `{"rate_limit": {"limit": 10, "window": 60}}`, "10000000", "10000000"},
		{"a lower limit, the same counter", `{"rate_limit": {"limit": 5, "window": 60}}`, "5000000", "4000000"},
		{"another key", `{"rate_limit": {"limit": 5, "window": 60}, "hosts": ["a.example"]}`, "5000000", "3000000"},
		{"another window, another counter", `{"rate_limit": {"limit": 5, "window": 120}}`, "5000000", "5000000"},
		{"off again", `{"rate_limit": null}`, "", ""},
	}
	for _, step := range steps {
		s.SetConfig(parse(t, step.config))
		h := request(t, l, c.Now(), time.Second)
		if h.Get("X-RateLimit-Limit") != step.limit || h.Get("X-RateLimit-Remaining") != step.left {
			t.Errorf("%s: %v", step.name, h)
		}
	}

	s.SetConfig(parse(t, steps[1].config))
	request(t, l, c.Now(), time.Second)
	wrong, err := (&site.Config{}).With("budgets", json.RawMessage(`{"user": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	s.SetConfig(wrong)
	for range 3 {
		if h := request(t, l, c.Now(), 0); h.Get("X-RateLimit-Limit") != "10000000" {
			t.Errorf("a wrong configuration did not leave the old one in use: %v", h)
		}
	}
	if n := strings.Count(log.String(), "rate limits stay as they were"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

func TestSitesShareNothing(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	counters := newCounters(t, ratelimit.Options{})
	const config = `{"rate_limit": {"limit": 1, "window": 60}, "budgets": {"user": {"limit": 1, "window": 60}}}`
	one := ratelimit.New(newSite(t, "one", config, c), counters, nil)
	two := ratelimit.New(newSite(t, "two", config, c), counters, nil)
	request(t, one, c.Now(), time.Second)
	if n := counted(t, two, c.Now()); n != 0 {
		t.Errorf("%d on the other site's counter", n)
	}
}
