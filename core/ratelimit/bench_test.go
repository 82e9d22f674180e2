package ratelimit_test

import (
	"net/http"
	"testing"
	"time"

	"armature/core/ratelimit"
)

const everything = `{
	"time_zone": "Europe/Berlin",
	"rate_limit": {"limit": 31622400, "window": 3600},
	"budgets": {
		"user": {"limit": 31622400, "window": 3600},
		"client": {"limit": 31622400, "window": 3600},
		"methods": {"acme.*": {"limit": 31622400, "window": 3600}}
	},
	"call_limits": {"acme.todo.close": {"limit": 1000000000}}
}`

// BenchmarkRequest is what a request pays: Begin, Admit and End.
func BenchmarkRequest(b *testing.B) {
	s := ratelimit.Subject{User: "jane@example.com", Client: "f00f", Method: "acme.todo.close", Verb: "POST", IP: "192.0.2.1"}
	for _, bb := range []struct{ name, config string }{
		{"off", `{}`},
		{"site", `{"time_zone": "Europe/Berlin", "rate_limit": {"limit": 31622400, "window": 3600}}`},
		{"everything", everything},
	} {
		b.Run(bb.name+"/memory", func(b *testing.B) { benchmarkRequest(b, bb.config, ratelimit.Options{}, s) })
		b.Run(bb.name+"/redis", func(b *testing.B) {
			benchmarkRequest(b, bb.config, ratelimit.Options{Redis: redisURL(b), Prefix: newPrefix()}, s)
		})
	}
}

func benchmarkRequest(b *testing.B, config string, o ratelimit.Options, s ratelimit.Subject) {
	c := newClock(mustTime(b, "UTC", "2026-03-01 10:00:00"))
	l := ratelimit.New(newSite(b, "one", config, c), newCounters(b, o), nil)
	h, ctx := make(http.Header), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		d, err := l.Begin(ctx, h, c.Now())
		if err == nil {
			err = d.Admit(ctx, h, s)
		}
		if err != nil {
			b.Fatal(err)
		}
		d.End(ctx, h, http.StatusOK, 123*time.Microsecond)
	}
}

// BenchmarkParallel has all processors on one site's counter.
func BenchmarkParallel(b *testing.B) {
	c := newClock(mustTime(b, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(b, `{"rate_limit": {"limit": 31622400, "window": 3600}}`, c)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		h := make(http.Header)
		for pb.Next() {
			d, _ := l.Begin(b.Context(), h, c.Now())
			d.End(b.Context(), h, http.StatusOK, 123*time.Microsecond)
		}
	})
}

// BenchmarkPlugin is what a call of a plugin pays.
func BenchmarkPlugin(b *testing.B) {
	for _, bb := range []struct{ name, config string }{
		{"off", `{}`},
		{"budget", `{"budgets": {"plugins": {"*": {"limit": 31622400, "window": 3600}}}}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			l := newLimiter(b, bb.config, newClock(mustTime(b, "UTC", "2026-03-01 10:00:00")))
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Allowed(b.Context(), "acme"); err != nil {
					b.Fatal(err)
				}
				l.Charge(b.Context(), "acme", 123*time.Microsecond)
			}
		})
	}
}
