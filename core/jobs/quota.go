package jobs

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// DefaultMost is how many jobs of a site may wait where nobody has said otherwise.
const DefaultMost = 1_000_000

// countFor is how long a count of those that wait is good for.
const countFor = time.Second

// tallyKey finds what one transaction has added.
type tallyKey struct{ q *Queue }

// admit counts one job more. A site may get past the bound by what transactions that
// run at the same moment add.
func (q *Queue) admit(ctx context.Context, tx document.Tx) error {
	most := q.c.Most()
	if most == 0 {
		return nil
	}
	waiting, err := q.waiting(ctx)
	if err != nil {
		return err
	}
	added := tx.SideEffects().Value(tallyKey{q}, func() any { return new(int64) }).(*int64)
	if waiting+*added >= most {
		return fault.New(fault.Validation, fault.QuotaExceeded,
			"This site may have %d jobs that wait, and has them: try again when some have run, or ask whoever runs the server for more", most)
	}
	*added++
	tx.AfterCommit(func() {
		q.mu.Lock()
		q.counted++
		q.mu.Unlock()
	})
	return nil
}

// waiting is how many jobs wait, as counted lately, and what was added since.
func (q *Queue) waiting(ctx context.Context) (int64, error) {
	q.mu.Lock()
	n, at := q.counted, q.at
	q.mu.Unlock()
	if now := time.Now(); now.Sub(at) < countFor {
		return n, nil
	}
	n, err := q.Count(ctx)
	if err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counted, q.at = n, time.Now()
	return n, nil
}

// Known is how many jobs wait, as counted lately.
func (q *Queue) Known() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.counted
}

// Count counts the jobs that wait.
func (q *Queue) Count(ctx context.Context) (n int64, err error) {
	sel := &doctype.Select{DocType: Table(), Where: before(never)}
	err = q.c.Store.Read(ctx, func(tx document.Tx) (err error) {
		n, err = tx.Count(ctx, sel)
		return err
	})
	return n, err
}

// before is of the jobs that are due before a moment.
func before(moment int64) doctype.Where {
	return doctype.Compare{Operand: operand("due"), Op: query.Lt, Value: moment}
}
