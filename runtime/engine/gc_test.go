package engine_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"armature/runtime/engine"
)

// A collection stops the world, guests included. These guests end only after
// the collections have: if one could not be stopped, the test would not end.
func TestCollectionsDoNotWaitForGuests(t *testing.T) {
	m := load(t, newEngine(t, engine.Config{}), mustGuest(t, "misbehave"))
	for _, export := range []string{"spin", "tree", "fill", "copy", "flood_wasi"} {
		t.Run(export, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := m.Call(ctx, &engine.Call{Export: export, Limits: engine.Limits{Fuel: 1 << 40, Wall: time.Minute}})
				done <- err
			}()
			for range 5 {
				runtime.GC()
			}
			cancel()
			var failed *engine.Error
			if err := <-done; !errors.As(err, &failed) || failed.Reason != engine.Canceled {
				t.Error(err)
			}
			healthy(t, m)
		})
	}
}
