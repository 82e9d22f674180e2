package dispatch_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/plugins/dispatch"
	"armature/plugins/plugintest"
)

// budget allows everybody some CPU time in all.
type budget struct {
	mu    sync.Mutex
	limit time.Duration
	used  map[string]time.Duration
}

func (b *budget) Allowed(_ context.Context, plugin string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used[plugin] >= b.limit {
		return fault.New(fault.TooManyRequests, "", "%s has had its time", plugin)
	}
	return nil
}

func (b *budget) Charge(_ context.Context, plugin string, cpu time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[plugin] += cpu
}

// TestBudget: each plugin is charged what it has used itself, and one without
// budget fails whoever calls it.
func TestBudget(t *testing.T) {
	b := &budget{limit: 10 * time.Millisecond, used: map[string]time.Duration{}}
	s := newSiteWith(t, func(c *dispatch.Config) { c.Budget = b }).with(misbehave)
	if err := s.install("a.wasm", plugintest.Asks(t, "acme.a", "1", "1", nil, "method_call")); err != nil {
		t.Fatal(err)
	}
	spin := m{"method": "acme.misbehave.spin", "args": m{}}
	if _, err := s.run(http.MethodPost, "acme.a.method_call", spin); fault.KindOf(err) != fault.Exhausted {
		t.Fatalf("spin: %v", err)
	}
	if a, nested := b.used["acme.a"], b.used["acme.misbehave"]; a <= 0 || a > time.Millisecond || nested < 90*time.Millisecond {
		t.Errorf("the caller is charged %s, the called %s", a, nested)
	}
	before := b.used["acme.misbehave"]
	if _, err := s.run(http.MethodPost, "acme.a.method_call", spin); fault.KindOf(err) != fault.TooManyRequests {
		t.Errorf("over the budget: %v", err)
	}
	if b.used["acme.misbehave"] != before {
		t.Error("a plugin without budget has run")
	}
}
