package jobs

import (
	"context"
	"time"

	"armature/core/doctype"
	"armature/core/document"
)

// Ticket names one turn of a job. What has become of the job since makes it worth
// nothing.
type Ticket struct {
	Job  string
	Turn int64
	Due  time.Time
}

// Due returns the jobs that are due, at most n, in their order, and when the next one or
// a schedule is due after them; zero: nothing waits.
func (q *Queue) Due(ctx context.Context, n int) (due []Ticket, next time.Time, err error) {
	now := q.c.Now()
	sel := &doctype.Select{
		DocType: Table(), Columns: columns("name", "turn", "due"), Where: before(never),
		Order: []doctype.OrderBy{{Operand: operand("due")}}, Length: n + 1,
	}
	err = q.c.Store.Read(ctx, func(tx document.Tx) error {
		due, next = nil, time.Time{}
		return tx.Rows(ctx, sel, func(v []any) error {
			t := Ticket{}
			t.Job, _ = v[0].(string)
			t.Turn, _ = v[1].(int64)
			at, _ := v[2].(int64)
			t.Due = time.UnixMicro(at)
			switch {
			case len(due) < n && !t.Due.After(now):
				due = append(due, t)
			case next.IsZero() && at < parked:
				next = t.Due
			}
			return nil
		})
	})
	if err != nil || q.c.Clock == nil {
		return due, next, err
	}
	at, err := q.c.Clock.Next(ctx)
	if !at.IsZero() && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return due, next, err
}

// Fire makes jobs of what is due by the clock. Whoever calls it next to others does no
// harm: each is made once.
func (q *Queue) Fire(ctx context.Context) error {
	if q.c.Clock == nil {
		return nil
	}
	return q.c.Clock.Fire(ctx)
}

// Paused reports whether jobs wait until an operator says so.
func (q *Queue) Paused() bool { return q.c.Outgoing() != nil }
