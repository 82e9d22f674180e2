package testbench

import (
	"context"
	"fmt"
	"sync"

	"armature/core/sites"
	"armature/core/tenant"
)

// nursery makes sites before tests need them: making one takes longer than most
// tests, and the compiler that builds the plugin leaves a processor free.
type nursery struct {
	set    *sites.Set
	ready  chan raised
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	used []*tenant.Tenant // whose tests have ended
}

type raised struct {
	site *tenant.Tenant
	err  error
}

// raise begins a nursery that keeps so many sites ready.
func raise(set *sites.Set, ahead int) *nursery {
	ctx, cancel := context.WithCancel(context.Background())
	n := &nursery{set: set, ready: make(chan raised, ahead), cancel: cancel}
	n.work.Go(func() { n.run(ctx) })
	return n
}

func (n *nursery) run(ctx context.Context) {
	for i := 1; ; i++ {
		n.clear(ctx)
		// Called off it would be an error, which is logged.
		t, err := n.set.Create(context.WithoutCancel(ctx), fmt.Sprintf("test-%d", i))
		select {
		case n.ready <- raised{t, err}:
		case <-ctx.Done():
			return
		}
	}
}

// next is a site on which nothing has been done.
func (n *nursery) next(ctx context.Context) (*tenant.Tenant, error) {
	select {
	case r := <-n.ready:
		return r.site, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// over puts a site away whose test has ended.
func (n *nursery) over(t *tenant.Tenant) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used = append(n.used, t)
}

// clear removes the sites whose tests have ended: tests that are run at every save
// would fill the memory with them.
func (n *nursery) clear(ctx context.Context) {
	n.mu.Lock()
	used := n.used
	n.used = nil
	n.mu.Unlock()
	for _, t := range used {
		n.set.Close(t.Site.Name)
		// What stays of one goes with the folder of all.
		_, _ = n.set.Registry().Drop(ctx, t.Site.Name)
	}
}

func (n *nursery) close() {
	n.cancel()
	n.work.Wait()
}
