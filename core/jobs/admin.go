package jobs

import (
	"context"
	"errors"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

func toValid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Get returns a job; Missing where there is none.
func (q *Queue) Get(ctx context.Context, id string) (j *Job, err error) {
	err = q.c.Store.Read(ctx, func(tx document.Tx) error {
		j, err = q.get(ctx, tx, id, false)
		return err
	})
	return j, err
}

func (q *Queue) get(ctx context.Context, tx document.Tx, id string, lock bool) (*Job, error) {
	doc, err := tx.Get(ctx, schema(), Table(), id, lock)
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.Missing("There is no job %s", id)
	}
	if err != nil {
		return nil, err
	}
	return of(doc)
}

// List returns the jobs of a state, or with "" all, the latest first, at most n from a
// start on.
func (q *Queue) List(ctx context.Context, state State, start, n int) (list []*Job, err error) {
	sel := &doctype.Select{
		DocType: Table(), Columns: columns("name"), Start: start, Length: n,
		Order: []doctype.OrderBy{{Operand: operand("creation"), Desc: true}, {Operand: operand("name"), Desc: true}},
	}
	if state != "" {
		sel.Where = doctype.Compare{Operand: operand("state"), Op: query.Eq, Value: string(state)}
	}
	err = q.c.Store.Read(ctx, func(tx document.Tx) error {
		list = nil
		var ids []string
		err := tx.Rows(ctx, sel, func(v []any) error {
			id, _ := v[0].(string)
			ids = append(ids, id)
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			j, err := q.get(ctx, tx, id, false)
			if fault.KindOf(err) == fault.NotFound {
				continue // it was cleared away meanwhile
			}
			if err != nil {
				return err
			}
			list = append(list, j)
		}
		return nil
	})
	return list, err
}

// Retry has a job that is dead, or was cancelled, run again from the step it had come
// to, with all its attempts; one that waits runs now.
func (q *Queue) Retry(ctx context.Context, tx document.Tx, id string) error {
	j, err := q.get(ctx, tx, id, true)
	if err != nil {
		return err
	}
	if j.State == Done {
		return fault.Invalid("", "The job %s is done", id)
	}
	if err := q.Expect(ctx, tx); err != nil {
		return err
	}
	return unstale(q.change(ctx, tx, j, map[string]any{"state": string(Waiting), "due": q.next(time.Time{}, q.c.Now()), "attempts": int64(0)}), id)
}

// Cancel takes a job back that waits. One that runs ends, and nothing it writes is kept;
// what it has asked others for stays done.
func (q *Queue) Cancel(ctx context.Context, tx document.Tx, id string) error {
	j, err := q.get(ctx, tx, id, true)
	if err != nil {
		return err
	}
	if j.State == Done || j.State == Cancelled {
		return fault.Invalid("", "The job %s is %s", id, j.State)
	}
	return unstale(q.change(ctx, tx, j, map[string]any{"state": string(Cancelled), "due": never, "unique_key": nil}), id)
}

func unstale(err error, id string) error {
	if errors.Is(err, errStale) {
		return fault.New(fault.Conflict, "TimestampMismatchError", "The job %s has gone on meanwhile: look again", id)
	}
	return err
}

// How long jobs are kept that do not wait any more.
const (
	keepDone = 24 * time.Hour
	keepDead = 30 * 24 * time.Hour
	maxSwept = 1000 // rows in one transaction
)

// Sweep clears jobs away that have ended long ago.
func (q *Queue) Sweep(ctx context.Context) error {
	for state, keep := range map[State]time.Duration{Done: keepDone, Cancelled: keepDone, Dead: keepDead} {
		for {
			n, err := q.sweep(ctx, state, q.c.Now().Add(-keep))
			if err != nil {
				return err
			}
			if n < maxSwept {
				break
			}
		}
	}
	return nil
}

func (q *Queue) sweep(ctx context.Context, state State, until time.Time) (n int, err error) {
	sel := &doctype.Select{DocType: Table(), Columns: columns("name"), Length: maxSwept, Where: doctype.AllOf{
		doctype.Compare{Operand: operand("state"), Op: query.Eq, Value: string(state)},
		doctype.Compare{Operand: operand("changed"), Op: query.Lt, Value: until.UnixMicro()},
	}}
	err = q.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		var ids []string
		if err := tx.Rows(ctx, sel, func(v []any) error {
			id, _ := v[0].(string)
			ids = append(ids, id)
			return nil
		}); err != nil {
			return err
		}
		n = len(ids)
		for _, id := range ids {
			if _, err := tx.Delete(ctx, schema(), Table(), id); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
