package auth

import (
	"context"
	"sync"
	"time"

	"armature/core/fair"
	"armature/core/fault"
)

const (
	// maxHashing is how many of a site may wait for their password to be checked.
	maxHashing = 64
	// hashingWait is how long one waits.
	hashingWait = 5 * time.Second
	// longestRest bounds the pause after a hash.
	longestRest = 100 * time.Millisecond
)

// Hasher lets one password be hashed at a time, for all sites of the process,
// and rests after each for half the time it took: people who log in, or guess,
// cost the others two thirds of a core at most. Sites take turns. Whoever comes alone
// waits for nothing.
type Hasher struct {
	turns  *fair.Turns
	core   sync.Mutex
	rested time.Time // belongs to whose turn it is: when the next may begin
}

// NewHasher makes a Hasher.
func NewHasher() *Hasher { return &Hasher{turns: fair.NewTurns(maxHashing)} }

// do runs fn when it is the turn of somebody at that site; Unavailable when too many
// wait there already, or the turn does not come in time.
func (h *Hasher) do(ctx context.Context, site *Service, fn func() error) error {
	if err := h.wait(ctx, site); err != nil {
		return err
	}
	start := time.Now()
	defer func() {
		end := time.Now()
		h.rested = end.Add(min(end.Sub(start)/2, longestRest))
		h.turns.Pass(site)
	}()
	return fn()
}

// compute runs the hashing itself, on one core in the whole process. It is for
// whoever holds a transaction as well, and must not wait for a turn: in a turn
// others wait for transactions.
func (h *Hasher) compute(fn func()) {
	h.core.Lock()
	defer h.core.Unlock()
	fn()
}

// check is CheckPassword, on that core.
func (h *Hasher) check(hash, password string) (right bool) {
	h.compute(func() { right = CheckPassword(hash, password) })
	return right
}

// hash is hashPassword, on that core.
func (h *Hasher) hash(password string) (hash string) {
	h.compute(func() { hash = hashPassword(password) })
	return hash
}

func (h *Hasher) wait(ctx context.Context, site *Service) error {
	patient, late := context.WithTimeout(ctx, hashingWait)
	defer late()
	defer fair.Pause(ctx).Resume(ctx)
	if err := h.turns.Take(patient, site); err != nil {
		if ctx.Err() != nil {
			return fault.From(ctx.Err())
		}
		return crowded()
	}
	pause := time.NewTimer(time.Until(h.rested))
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		h.turns.Pass(site)
		return fault.From(ctx.Err())
	}
}

func crowded() error {
	return fault.New(fault.Unavailable, "", "Too many people are logging in at the moment; try again")
}
