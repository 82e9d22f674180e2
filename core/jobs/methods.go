package jobs

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
)

// View is a job as people see it. What it was asked with is for System Managers, who
// may read everything there is of the site.
type View struct {
	Job      string          `json:"job"`
	Method   string          `json:"method"`
	Args     json.RawMessage `json:"args"`
	User     string          `json:"user"`
	Plugin   string          `json:"plugin,omitempty"`
	State    State           `json:"state"`
	Due      string          `json:"due,omitempty"`
	Attempts int64           `json:"attempts"`
	Most     int64           `json:"most"`
	Step     int64           `json:"step"`
	Progress json.RawMessage `json:"progress,omitempty"`
	Error    string          `json:"error,omitempty"`
	Enqueued string          `json:"enqueued"`
	Changed  string          `json:"changed"`
}

// Show is the job as people see it, on the wall clock of now's zone.
func (j *Job) Show(now time.Time) View {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return doctype.FormatDatetime(t.In(now.Location()))
	}
	v := View{
		Job: j.ID, Method: j.Method, Args: j.Args, User: j.User, State: j.State, Due: at(j.Due), Attempts: j.Attempts, Most: j.Most,
		Step: j.Step, Progress: json.RawMessage(j.Progress), Error: j.Error, Enqueued: at(j.Enqueued), Changed: at(j.Changed),
	}
	if j.frame != nil {
		v.Plugin = j.frame.Plugin
	}
	return v
}

// maxListed is how many jobs one list has.
const maxListed = 500

// Methods are framework.job.*, for System Managers.
func (q *Queue) Methods() []*method.Method {
	build := func(name, description string, verbs []string, fn func(context.Context, *method.Call) (any, error)) *method.Method {
		return &method.Method{
			Path: "framework.job." + name, Tier: method.Named, Roles: []string{identity.SystemManager}, Verbs: verbs,
			Description: description, Func: fn,
		}
	}
	read, write := []string{"GET", "POST"}, []string{"POST"}
	return []*method.Method{
		build("list", "The jobs of the site, the latest first: state (waiting, done, dead, cancelled; without it all), limit_start, limit_page_length.", read, q.listed),
		build("show", "One job: job.", read, q.shown),
		build("retry", "Runs a job again that is dead or was cancelled, and one that waits at once: job.", write, func(ctx context.Context, call *method.Call) (any, error) {
			id, err := call.Args.Need("job")
			if err != nil {
				return nil, err
			}
			return nil, q.Retry(ctx, call.Tx, id)
		}),
		build("cancel", "Takes a job back that waits or runs: job.", write, func(ctx context.Context, call *method.Call) (any, error) {
			id, err := call.Args.Need("job")
			if err != nil {
				return nil, err
			}
			return nil, q.Cancel(ctx, call.Tx, id)
		}),
	}
}

func (q *Queue) listed(ctx context.Context, call *method.Call) (any, error) {
	state := State(call.Args.Text("state"))
	if err := CheckState(state); err != nil {
		return nil, err
	}
	start, n, err := page(&call.Args)
	if err != nil {
		return nil, err
	}
	list, err := q.List(ctx, state, start, n)
	if err != nil {
		return nil, err
	}
	views := make([]View, len(list))
	for i, j := range list {
		views[i] = j.Show(q.c.Now())
	}
	return views, nil
}

// CheckState refuses what is no state; empty is all of them.
func CheckState(state State) error {
	for _, s := range append(States(), "") {
		if s == state {
			return nil
		}
	}
	return fault.Invalid("", "A job is waiting, done, dead or cancelled, not %q", state)
}

func page(args *method.Args) (start, n int, err error) {
	n = 20
	for name, into := range map[string]*int{"limit_start": &start, "limit_page_length": &n} {
		text := args.Text(name)
		if text == "" {
			continue
		}
		if *into, err = strconv.Atoi(text); err != nil || *into < 0 {
			return 0, 0, fault.Invalid("", "%s is a whole number from 0", name)
		}
	}
	if n == 0 || n > maxListed {
		n = maxListed
	}
	return start, n, nil
}

func (q *Queue) shown(ctx context.Context, call *method.Call) (any, error) {
	id, err := call.Args.Need("job")
	if err != nil {
		return nil, err
	}
	j, err := q.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return j.Show(q.c.Now()), nil
}
