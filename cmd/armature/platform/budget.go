package platform

import (
	"context"
	"time"
)

// budget is the CPU time that the sites' configurations allow their plugins.
type budget struct{ *Guests }

func (b budget) Allowed(ctx context.Context, site, plugin string) error {
	t := b.tenant(site)
	if t == nil {
		return nil
	}
	return t.Limiter().Allowed(ctx, plugin)
}

func (b budget) Charge(ctx context.Context, site, plugin string, cpu time.Duration) {
	if t := b.tenant(site); t != nil {
		t.Limiter().Charge(ctx, plugin, cpu)
	}
}
