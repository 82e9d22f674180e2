package store

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/document"
)

// race is what one call of Write goes through until it has committed: its
// attempts, each of which begins anew.
type race struct {
	s        *Store
	deadline time.Time
	losses   int
	claims   []claim // what earlier attempts lost over
	first    claim   // what the latest attempt began with
	leave    func()  // what it queued for
	numbers  numbers
	trial    document.Trial
}

func (s *Store) newRace() *race {
	return &race{s: s, deadline: time.Now().Add(s.retryFor)}
}

// begin starts the transaction of an attempt. It takes its turn where earlier
// attempts lost repeatedly, or where others do who begin alike.
func (r *race) begin(ctx context.Context, first claim, party string) (transaction, error) {
	if !r.s.engine.races {
		return r.s.backend.begin(ctx, terms{party: party})
	}
	r.first = first
	claims := r.s.contention.wanted(first)
	if r.losses > 1 || r.losses == 1 && len(claims) > 0 {
		claims = append(claims, r.claims...)
	}
	claims = inOrder(claims)
	o := terms{party: party}
	if len(claims) > 0 {
		waiting, cancel := context.WithDeadline(ctx, r.deadline)
		defer cancel()
		leave, waited, err := r.s.contention.queue(waiting, claims)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, errBusy()
		}
		r.leave = leave
		if waited {
			r.s.contention.stillHot(first)
		}
		for _, c := range claims {
			if r.s.engine.turns > 0 { // else those of other processes are met by losing
				o.turns = append(o.turns, turnOf(c))
			}
		}
	}
	return r.s.backend.begin(ctx, o)
}

// end is after each attempt, when its transaction has ended.
func (r *race) end(t *tx) {
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
	if t.why != again {
		return
	}
	r.losses++
	over := t.over(r.losses)
	first := r.first
	if t.predicate || r.losses > 3 {
		first = first.whole()
	}
	r.s.contention.lost(first, over)
	r.claims = inOrder(append(r.claims, over...))
	if len(r.claims) > maxWants {
		r.claims = wholes(r.claims)
	}
}

// over is what a transaction lost over: the documents it had locked or changed
// and the one at which it failed; their DocTypes where it lost over something
// that it had only read, which no document stands for.
func (t *tx) over(losses int) []claim {
	all := append([]claim{t.at}, t.touched...)
	if t.predicate || losses > 3 || len(all) > maxWants {
		return wholes(all)
	}
	return all
}

func wholes(claims []claim) []claim {
	all := make([]claim, len(claims))
	for i, c := range claims {
		all[i] = c.whole()
	}
	all = inOrder(all)
	return all[:min(len(all), maxWants)]
}

// touch notes a document that the transaction locks or changes.
func (t *tx) touch(dt *doctype.DocType, name string) {
	if c := claimOf(dt, name); len(t.touched) <= maxWants && (len(t.touched) == 0 || t.touched[len(t.touched)-1] != c) {
		t.touched = append(t.touched, c)
	}
}
