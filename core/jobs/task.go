package jobs

import (
	"context"

	"armature/core/document"
	"armature/core/identity"
)

// Task does something of the platform's own, outside of a transaction: a server or the
// mail of a site is asked, and nobody waits for a lock meanwhile. It is done at least
// once. end writes down what came of it, in the transaction in which the job is done,
// and may run more than once; nil: there is nothing to write. An error counts as an
// attempt that has failed.
type Task func(ctx context.Context, j *Job, caller *identity.Caller) (end func(context.Context, document.Tx) error, err error)

// do runs a task.
func (q *Queue) do(ctx context.Context, j *Job, task Task, caller *identity.Caller) error {
	if j.frame != nil {
		caller = caller.In(j.frame.Set())
	}
	end, err := task(ctx, j, caller)
	if err != nil {
		return err
	}
	return q.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if end != nil {
			if err := end(ctx, tx); err != nil {
				return err
			}
		}
		return q.change(ctx, tx, j, map[string]any{"state": string(Done), "due": never, "error": "", "unique_key": nil, "step": j.Step + 1, "attempts": int64(0)})
	})
}

// Last reports whether the attempt under way is the last one.
func (j *Job) Last() bool { return j.Attempts+1 >= j.Most }
