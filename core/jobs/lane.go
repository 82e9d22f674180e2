package jobs

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// first finds the job of a lane that was asked for first among those that wait.
func (q *Queue) first(ctx context.Context, tx document.Tx, lane string) (id string, err error) {
	sel := &doctype.Select{
		DocType: Table(), Columns: columns("name"), Length: 1,
		Order: []doctype.OrderBy{{Operand: operand("enqueued")}, {Operand: operand("name")}},
		Where: doctype.AllOf{
			doctype.Compare{Operand: operand("lane"), Op: query.Eq, Value: lane},
			doctype.Compare{Operand: operand("state"), Op: query.Eq, Value: string(Waiting)},
		},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		id, _ = v[0].(string)
		return nil
	})
	return id, err
}

// enterLane has a job wait for those of its lane. Where transactions run beside each
// other they are serializable: one that sees a job which ends meanwhile fails, and is
// run again.
func (q *Queue) enterLane(ctx context.Context, tx document.Tx, doc *doctype.Document, lane string) error {
	if lane == "" {
		return nil
	}
	doc.Put("lane", lane)
	id, err := q.first(ctx, tx, lane)
	if err == nil && id != "" {
		doc.Put("due", parked)
	}
	return err
}

// leaveLane has the next job of a lane run.
func (q *Queue) leaveLane(ctx context.Context, tx document.Tx, j *Job) error {
	if j.lane == "" {
		return nil
	}
	id, err := q.first(ctx, tx, j.lane)
	if err != nil || id == "" {
		return err
	}
	ok, err := tx.UpdateIf(ctx, Table(), id, map[string]any{"state": string(Waiting), "due": parked}, map[string]any{"due": q.c.Now().UnixMicro()})
	if err != nil || !ok {
		return err
	}
	return q.Expect(ctx, tx)
}
