package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/scope"
)

// errStale ends the transaction of a job of which something has become meanwhile: it
// was cancelled, or another process has run it.
var errStale = errors.New("something else has become of the job")

// Outcome is what came of a turn.
type Outcome uint8

// The outcomes.
const (
	Stale     Outcome = iota // the ticket was worth nothing
	Succeeded                // the job is done
	Stepped                  // a step of it is
	Failed                   // it is tried again
	Died                     // it is not
)

// Run runs one turn of a job. What its method writes and what becomes of the job are
// committed together, so a job whose ticket is run twice has its effects once.
//
// The error is one of the server, not of the job: the ticket is to be tried again.
// That ctx ends is no attempt that failed.
func (q *Queue) Run(ctx context.Context, t Ticket) (Outcome, error) {
	if err := q.c.Outgoing(); err != nil {
		return Stale, err
	}
	j, err := q.Get(ctx, t.Job)
	if fault.KindOf(err) == fault.NotFound {
		return Stale, nil
	}
	if err != nil {
		return Stale, err
	}
	if j.State != Waiting || j.turn != t.Turn {
		return Stale, nil
	}
	out, failed := q.call(ctx, j)
	switch {
	case failed == nil:
		return out, nil
	case errors.Is(failed, errStale):
		return Stale, nil
	case ctx.Err() != nil:
		return Stale, ctx.Err()
	}
	return q.fail(ctx, j, failed)
}

// call makes the call of a job's next step.
func (q *Queue) call(ctx context.Context, j *Job) (out Outcome, err error) {
	caller, err := q.caller(ctx, j)
	if err != nil {
		return Failed, err
	}
	if task := q.c.Tasks[j.Method]; task != nil {
		return Succeeded, q.do(ctx, j, task, caller)
	}
	args, err := j.args()
	if err != nil {
		return Failed, err
	}
	d := method.Due{Path: j.Method, Args: args, Caller: caller, Key: j.ID + "-" + strconv.FormatInt(j.Step, 10)}
	if j.frame != nil {
		d.Frame = j.frame.Set()
	}
	d.Done = func(ctx context.Context, tx document.Tx, m *method.Method, res method.Result) error {
		set := map[string]any{"state": string(Done), "due": never, "error": "", "unique_key": nil}
		out = Succeeded
		if m.Plugin != "" {
			next, progress := continued(res.Message)
			if progress != "" {
				set["progress"] = progress
			}
			if next != nil {
				if bytes.Equal(next, j.cursor) {
					return fault.Invalid("", "%s has answered the cursor that it was given: it would never end", j.Method)
				}
				out = Stepped
				set = map[string]any{"next_cursor": string(next), "progress": progress, "due": q.next(time.Time{}, q.c.Now()), "error": ""}
			}
		}
		set["step"], set["attempts"] = j.Step+1, int64(0)
		return q.change(ctx, tx, j, set)
	}
	err = q.c.Methods().RunDue(ctx, d)
	return out, err
}

// maxProgress is how many bytes of a progress are kept.
const maxProgress = 1 << 10

// continued reads what a method has answered: the cursor of the next step, nil where
// there is none, and what it says of its progress.
func continued(message json.RawMessage) (next json.RawMessage, progress string) {
	var answer struct {
		Next     json.RawMessage `json:"next"`
		Progress json.RawMessage `json:"progress"`
	}
	if len(message) == 0 || message[0] != '{' || json.Unmarshal(message, &answer) != nil {
		return nil, ""
	}
	if string(answer.Next) == "null" {
		answer.Next = nil
	}
	if len(answer.Progress) <= maxProgress {
		progress = string(answer.Progress)
	}
	return answer.Next, progress
}

// args are the arguments of the next step.
func (j *Job) args() (method.Args, error) {
	if j.cursor == nil {
		return method.ArgsJSON(j.Args)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(j.Args, &all); err != nil {
		return method.Args{}, err
	}
	all["cursor"] = j.cursor
	text, err := json.Marshal(all)
	if err != nil {
		return method.Args{}, err
	}
	return method.ArgsJSON(text)
}

// caller is as whom a job runs: the user as of now, narrowed by the token of then.
func (q *Queue) caller(ctx context.Context, j *Job) (*identity.Caller, error) {
	now, err := q.c.Caller(ctx, j.User)
	if err != nil || j.scopes == nil {
		return now, err
	}
	narrowed := *now
	narrowed.Scopes = append([]*scope.Set{}, now.Scopes...)
	for _, kept := range j.scopes {
		narrowed.Scopes = append(narrowed.Scopes, kept.Set())
	}
	return &narrowed, nil
}

// change notes what has become of a job, if nothing else has meanwhile: else it is
// errStale.
func (q *Queue) change(ctx context.Context, tx document.Tx, j *Job, set map[string]any) error {
	set["turn"], set["changed"] = j.turn+1, q.c.Now().UnixMicro()
	ok, err := tx.UpdateIf(ctx, Table(), j.ID, map[string]any{"state": string(j.State), "turn": j.turn}, set)
	if err == nil && !ok {
		err = errStale
	}
	if state, ends := set["state"]; err == nil && ends && state != string(Waiting) {
		err = q.leaveLane(ctx, tx, j)
	}
	return err
}

// maxError is how many bytes of an error are kept.
const maxError = 4 << 10

// fail notes that an attempt has failed.
func (q *Queue) fail(ctx context.Context, j *Job, failed error) (Outcome, error) {
	f := fault.From(failed)
	text := f.ExcType() + ": " + f.Message
	if f.Kind == fault.Internal {
		text = f.ExcType() + ": Something went wrong on the server; its log says what"
		q.c.Logger.Error("a job failed", "job", j.ID, "method", j.Method, "error", failed)
	}
	if len(text) > maxError {
		text = text[:maxError]
	}
	out := Failed
	set := map[string]any{"error": toValid(text), "attempts": j.Attempts + 1}
	if j.Attempts+1 >= j.Most || hopeless(f) {
		out = Died
		set["state"], set["due"], set["unique_key"] = string(Dead), never, nil
		q.c.Logger.Warn("a job is not tried any more", "job", j.ID, "method", j.Method, "attempts", j.Attempts+1, "error", text)
	} else {
		set["due"] = q.c.Now().Add(backoff(j.Attempts + 1)).UnixMicro()
	}
	err := q.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return q.change(ctx, tx, j, set) })
	if errors.Is(err, errStale) {
		return Stale, nil
	}
	return out, err
}

// hopeless reports whether trying again leads to nothing before a person does something:
// the user may not act any more, or may not do this.
func hopeless(f *fault.Error) bool {
	return f.Kind == fault.Authentication || f.Kind == fault.Permission
}

// backoff is how long after the nth failure a job is tried again: n^4 seconds, a tenth
// more or less, so that what failed together does not come again together.
func backoff(n int64) time.Duration {
	base := time.Duration(n*n*n*n) * time.Second
	return base + time.Duration((rand.Float64()*0.2-0.1)*float64(base))
}
