package ratelimit

import (
	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// NewUnswept makes counters without the goroutine that throws old ones away, for
// tests in which time is not real: it would never let them end.
func NewUnswept() *Counters {
	return &Counters{own: memory.NewStoreWithOptions(limiter.StoreOptions{})}
}
