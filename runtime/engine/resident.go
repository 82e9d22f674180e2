package engine

import (
	"fmt"
	"time"

	"armature/core/account"
	"armature/runtime/engine/internal/instance"
)

// resident is an instance that counts among those of the engine.
type resident struct {
	*instance.Instance
	common    *common
	idleSince time.Time
	kept      int64 // bytes charged to the engine
}

// admit counts an instance in and makes it. When there are too many it takes the place
// of one that is idle.
func (c *common) admit(open func() (*instance.Instance, error)) (*resident, error) {
	if n := c.live.Add(1); n > int64(c.cfg.MaxInstances) && !c.evict() {
		c.live.Add(-1)
		return nil, &Error{Reason: Unavailable, Detail: fmt.Sprintf("%d instances are live", c.cfg.MaxInstances)}
	}
	in, err := open()
	if err != nil {
		c.live.Add(-1)
		return nil, err
	}
	return &resident{Instance: in, common: c}, nil
}

// keptUnit is in which units idle instances are charged, in bytes, so that what
// changes a little from call to call is not charged anew each time.
const keptUnit = 1 << 20

// keep charges the engine what the instance keeps of its last call while it is idle,
// which the engine gives up as soon as memory is short. It reports false when there is
// no memory for that.
func (r *resident) keep() bool {
	idle := r.common.idle
	if idle == nil {
		return true
	}
	kept := (int64(r.Kept()) + keptUnit - 1) / keptUnit * keptUnit
	switch {
	case kept > r.kept:
		if !idle.Try(account.Guest, kept-r.kept) {
			return false
		}
	case kept < r.kept:
		idle.Give(account.Guest, r.kept-kept)
	}
	r.kept = kept
	return true
}

func (r *resident) trim() error {
	err := r.Trim()
	r.keep() // less than before
	return err
}

func (r *resident) close() {
	if err := r.Close(); err != nil {
		r.common.cfg.Logger.Error("free a guest's memory", "err", err)
	}
	r.common.idle.Give(account.Guest, r.kept)
	r.common.live.Add(-1)
}
