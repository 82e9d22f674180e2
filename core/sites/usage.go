package sites

import (
	"sync/atomic"
	"time"
)

// usage tells when a site was last used, at next to no cost for a request.
type usage struct {
	noted atomic.Bool
	last  time.Time // of the poller
	was   atomic.Bool
}

// note says that a request has come.
func (u *usage) note() {
	if !u.noted.Load() { // a write would take the line from every other processor
		u.noted.Store(true)
	}
}

// recent reports whether a request has come since the last round.
func (u *usage) recent() bool { return u.noted.Load() || u.was.Load() }

// idle reports whether none has come for d; below 0 is for ever.
func (u *usage) idle(now time.Time, d time.Duration) bool {
	u.was.Store(u.noted.Swap(false))
	if u.was.Load() {
		u.last = now
	}
	return d >= 0 && now.Sub(u.last) >= d
}
