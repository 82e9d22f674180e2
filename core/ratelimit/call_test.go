package ratelimit_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/fault"
	"armature/core/ratelimit"
)

const often = "RateLimitExceededError"

func TestCallLimits(t *testing.T) {
	named := func(ip, user, email string) ratelimit.Subject {
		return ratelimit.Subject{IP: ip, User: user, Method: "acme.send", Verb: "POST", Argument: func(name string) string {
			return map[string]string{"email": email}[name]
		}}
	}
	type step struct {
		s    ratelimit.Subject
		want string
	}
	get := named("1", "a", "x")
	get.Verb = "GET"
	elsewhere := named("1", "a", "x")
	elsewhere.Method = "acme.receive"
	tests := []struct {
		name, limits string
		steps        []step
	}{
		{"by address", `{"acme.send": {"limit": 2}}`, []step{
			{named("1", "a", "x"), ""}, {named("1", "b", "y"), ""}, {named("1", "c", "z"), often}, {named("2", "a", "x"), ""}, {elsewhere, ""},
		}},
		{"by user", `{"acme.send": {"limit": 1, "user": true}}`, []step{
			{named("1", "a", "x"), ""}, {named("2", "a", "y"), often}, {named("1", "b", "x"), ""},
		}},
		{"by argument", `{"acme.send": {"limit": 1, "argument": "email"}}`, []step{
			{named("1", "a", "x"), ""}, {named("2", "b", "x"), often}, {named("1", "a", "y"), ""},
			{named("1", "a", strings.Repeat("y", 1e6)), ""}, {named("1", "a", strings.Repeat("y", 1e6)), often},
		}},
		{"by all of them", `{"acme.send": {"limit": 1, "ip": true, "user": true, "argument": "email"}}`, []step{
			{named("1", "a", "x"), ""}, {named("1", "a", "y"), ""}, {named("1", "b", "x"), ""}, {named("2", "a", "x"), ""}, {named("2", "a", "x"), often},
			{named("1", "1:a", "x"), ""}, {named("1", "a", "x"), often},
		}},
		{"of some verbs", `{"acme.send": {"limit": 1, "verbs": ["post"]}}`, []step{
			{get, ""}, {get, ""}, {named("1", "a", "x"), ""}, {named("1", "a", "x"), often}, {get, ""},
		}},
		{"each method below a prefix for itself", `{"acme.*": {"limit": 1}}`, []step{
			{get, ""}, {get, often}, {elsewhere, ""}, {elsewhere, often},
		}},
		{"five by default", `{"acme.send": {}}`, []step{
			{get, ""}, {get, ""}, {get, ""}, {get, ""}, {get, ""}, {get, often}, {get, often},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
			l := newLimiter(t, `{"call_limits": `+tt.limits+`}`, c)
			for i, s := range tt.steps {
				got, h := call(t, l, c, s.s, 0)
				if got != s.want {
					t.Errorf("step %d: %q, want %q", i, got, s.want)
				}
				if retry := h.Get("Retry-After"); s.want != "" && retry != "86400" && retry != "86399" {
					t.Errorf("step %d: Retry-After %q", i, retry)
				}
			}
		})
	}
}

func TestCallsAreCountedFromTheFirst(t *testing.T) {
	s := newSite(t, "one", `{}`, newClock(time.Unix(0, 0)))
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(s, ratelimit.NewUnswept(), nil)
		limit := ratelimit.CallLimit{Limit: 2, Period: time.Hour}
		count := func() error { return l.Count(t.Context(), limit, "acme.send", "a") }
		time.Sleep(300 * time.Millisecond) // not on a whole second
		for range 2 {
			if err := count(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
		}
		for range 3 { // refused calls do not lengthen the hour
			err := count()
			if e := fault.From(err); e.ExcType() != often || !strings.Contains(e.Message, "40m") {
				t.Fatal(err)
			}
		}
		time.Sleep(40*time.Minute - time.Millisecond)
		if count() == nil {
			t.Error("allowed before the hour was over")
		}
		time.Sleep(2 * time.Millisecond)
		if err := count(); err != nil {
			t.Error(err)
		}
	})
}

func TestParallelCallsAreCountedOnce(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{}`, c)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if l.Count(t.Context(), ratelimit.CallLimit{Limit: 333, Period: time.Hour}, "acme.send", "a") == nil {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 333 {
		t.Errorf("%d of 333 calls allowed", n)
	}
}
