package platform

import (
	"context"

	"armature/core/metrics"
	"armature/core/store"
)

// follow follows the replicas of a database, if there are any.
func (p *Platform) follow(ctx context.Context, primary string, o Options) (err error) {
	if len(o.Replicas) == 0 {
		return nil
	}
	p.replicas, err = store.OpenReplicas(ctx, primary, o.Replicas, store.ReplicaOptions{Conns: o.Conns, Logger: p.Log})
	if err != nil {
		return err
	}
	metrics.ShowReplicas(p.Guests.Metrics.Registry, func() ([]metrics.Replica, int64) {
		stats, primary := p.replicas.Stats()
		shown := make([]metrics.Replica, len(stats))
		for i, s := range stats {
			shown[i] = metrics.Replica(s)
		}
		return shown, primary
	})
	return nil
}

func (p *Platform) unfollow() error {
	if p.replicas == nil {
		return nil
	}
	return p.replicas.Close()
}
