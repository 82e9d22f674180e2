package ratelimit_test

import (
	"net/http"
	"testing"
	"time"

	"armature/core/fault"
	"armature/core/ratelimit"
)

// call is a request of a subject that takes a time; it returns the exc_type of
// its refusal, if any, and the headers.
func call(t *testing.T, l *ratelimit.Limiter, c *clock, s ratelimit.Subject, used time.Duration) (string, http.Header) {
	t.Helper()
	h := make(http.Header)
	d, err := l.Begin(t.Context(), h, c.Now())
	if err == nil {
		err = d.Admit(t.Context(), h, s)
	}
	if err != nil {
		d.End(t.Context(), h, http.StatusTooManyRequests, used)
		return fault.From(err).ExcType(), h
	}
	d.End(t.Context(), h, http.StatusOK, used)
	return "", h
}

const spent = "RateLimitExceededError"

func TestBudgetsOfCallers(t *testing.T) {
	type step struct {
		s    ratelimit.Subject
		want string
	}
	user := func(name string) ratelimit.Subject { return ratelimit.Subject{User: name, IP: "192.0.2.1"} }
	guest := func(ip string) ratelimit.Subject { return ratelimit.Subject{User: "Guest", IP: ip} }
	client := func(user, id string) ratelimit.Subject { return ratelimit.Subject{User: user, Client: id} }
	method := func(user, path string) ratelimit.Subject { return ratelimit.Subject{User: user, Method: path} }
	const one = `{"limit": 1, "window": 60}`
	tests := []struct {
		name, budgets string
		steps         []step // each takes a second, which spends what it is charged to
	}{
		{"a user alone", `{"user": ` + one + `}`, []step{
			{user("a"), ""}, {user("a"), spent}, {user("b"), ""}, {user("b"), spent},
		}},
		{"guests by address, IPv6 by network", `{"user": ` + one + `}`, []step{
			{guest("192.0.2.1"), ""}, {guest("192.0.2.1"), spent}, {guest("192.0.2.2"), ""}, {guest("::ffff:192.0.2.2"), spent},
			{guest("2001:db8::1"), ""}, {guest("2001:db8::2"), spent}, {guest("2001:db8:0:1::1"), ""}, {guest("no address"), ""},
		}},
		{"a user who is called like a guest's address", `{"user": ` + one + `}`, []step{
			{guest("192.0.2.1"), ""}, {user("@9:192.0.2.1"), ""}, {user("192.0.2.1"), ""},
		}},
		{"a client over all its users", `{"client": ` + one + `}`, []step{
			{client("a", "x"), ""}, {client("b", "x"), spent}, {client("b", "y"), ""}, {client("b", ""), ""}, {client("b", ""), ""},
		}},
		{"a method over all its users", `{"methods": {"acme.run": ` + one + `}}`, []step{
			{method("a", "acme.run"), ""}, {method("b", "acme.run"), spent}, {method("b", "acme.walk"), ""}, {method("b", ""), ""},
		}},
		{"methods below a prefix together, the named one apart", `{"methods": {"acme.*": ` + one + `, "acme.a.*": ` + one + `, "acme.a.x": ` + one + `}}`, []step{
			{method("a", "acme.b.c.d"), ""}, {method("a", "acme.e"), spent}, {method("a", "acme.a.y"), ""}, {method("a", "acme.a.z"), spent},
			{method("a", "acme.a.x"), ""}, {method("a", "acme"), ""}, {method("a", "acme"), ""}, {method("a", "acmeish.b"), ""},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:10"))
			l := newLimiter(t, `{"budgets": `+tt.budgets+`}`, c)
			for i, s := range tt.steps {
				got, h := call(t, l, c, s.s, time.Second)
				if got != s.want {
					t.Errorf("step %d: %q, want %q", i, got, s.want)
				}
				if want := map[string]string{spent: "50"}[s.want]; h.Get("Retry-After") != want {
					t.Errorf("step %d: Retry-After %q", i, h.Get("Retry-After"))
				}
				if s.want == "" && len(h) != 0 {
					t.Errorf("step %d: headers though the site has no limit: %v", i, h)
				}
			}
			c.add(time.Minute)
			if got, _ := call(t, l, c, tt.steps[0].s, 0); got != "" {
				t.Errorf("the next window: %s", got)
			}
		})
	}
}

// TestRefusedCallersDoNotSpendTheSite also sees that the headers of a refusal are
// those of the budget that was spent.
func TestRefusedCallersDoNotSpendTheSite(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:00"))
	l := newLimiter(t, `{"rate_limit": {"limit": 10, "window": 3600}, "budgets": {"user": {"limit": 2, "window": 60}}}`, c)
	a := ratelimit.Subject{User: "a"}
	call(t, l, c, a, 2*time.Second)
	got, h := call(t, l, c, a, 2*time.Second)
	if got != spent || h.Get("X-RateLimit-Limit") != "2000000" || h.Get("X-RateLimit-Remaining") != "0" ||
		h.Get("X-RateLimit-Reset") != "60" || h.Get("X-RateLimit-Used") != "" {
		t.Errorf("%s %v", got, h)
	}
	if n := counted(t, l, c.Now()); n != 2e6 {
		t.Errorf("%d on the site's counter", n)
	}
}

func TestPlugins(t *testing.T) {
	c := newClock(mustTime(t, "UTC", "2026-03-01 10:00:10"))
	l := newLimiter(t, `{"budgets": {"plugins": {"acme": {"limit": 1, "window": 60}, "*": {"limit": 2, "window": 60}}}}`, c)
	l.Charge(t.Context(), "acme", 999999*time.Microsecond)
	l.Charge(t.Context(), "other", 2*time.Second)
	l.Charge(t.Context(), "third", -time.Second)
	for plugin, allowed := range map[string]bool{"acme": true, "other": false, "third": true} {
		if err := l.Allowed(t.Context(), plugin); (err == nil) != allowed {
			t.Errorf("%s: %v", plugin, err)
		}
	}
	l.Charge(t.Context(), "acme", time.Nanosecond) // a started microsecond counts
	if err := l.Allowed(t.Context(), "acme"); fault.From(err).ExcType() != spent {
		t.Errorf("spent: %v", err)
	}
	c.add(50 * time.Second)
	if err := l.Allowed(t.Context(), "acme"); err != nil {
		t.Errorf("the next window: %v", err)
	}
	if err := newLimiter(t, `{}`, c).Allowed(t.Context(), "acme"); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}
