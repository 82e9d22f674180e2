package platform

import (
	"context"
	"log/slog"

	"armature/cmd/armature/installation"
	"armature/core/account"
	"armature/core/jobs"
	"armature/core/jobs/pump"
	"armature/core/sites"
)

// newPump makes what runs the jobs of the sites of a platform.
func newPump(in *installation.Installation, p *Platform, log *slog.Logger) *pump.Pump {
	c := QueueOf(in)
	c.Logger = log
	c.Borrow = func(ctx context.Context, site string) (*jobs.Queue, func(), error) {
		t, release, err := p.Set.Borrow(ctx, site)
		if err != nil {
			return nil, nil, err
		}
		return t.Jobs, release, nil
	}
	if p.account != nil {
		c.Charged = func(ctx context.Context, site string) (context.Context, func()) {
			call := &account.Call{}
			p.account.Begin(call, site, nil, false)
			return account.With(ctx, call), call.End
		}
	}
	return pump.New(c)
}

// QueueOf is where the jobs of an installation are handed over.
func QueueOf(in *installation.Installation) pump.Config {
	if in.Database != "" {
		return pump.Config{Database: in.Database, Schema: sites.QueueSchema("")}
	}
	return pump.Config{Database: in.Layout().Queue()}
}
