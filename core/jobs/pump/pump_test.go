package pump_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/jobs/pump"
	"armature/core/method"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// bench is a server with one site, its pump and methods that tests steer.
type bench struct {
	*sitetest.Server
	pump *pump.Pump

	mu   sync.Mutex
	does func(ctx context.Context, call *method.Call) (any, error)
	ran  chan string // args of what has been called
}

// config is the pump of a set.
func config(c *sites.Config, set func() *sites.Set) pump.Config {
	pc := pump.Config{Database: c.Database, Schema: sites.QueueSchema(c.Registry), Still: 400 * time.Millisecond, Borrow: func(ctx context.Context, site string) (*jobs.Queue, func(), error) {
		t, release, err := set().Borrow(ctx, site)
		if err != nil {
			return nil, nil, err
		}
		return t.Jobs, release, nil
	}}
	if c.Database == "" {
		pc.Database = c.Layout.Queue()
	}
	return pc
}

func each(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": sitetest.Postgres} {
		t.Run(name, func(t *testing.T) { test(t, newBench(t, database(t))) })
	}
}

func newBench(t *testing.T, database string) *bench {
	t.Helper()
	b := &bench{ran: make(chan string, 100_000)}
	with := sitetest.WithMethods(&method.Method{Path: "test.do", Func: func(ctx context.Context, call *method.Call) (any, error) {
		b.mu.Lock()
		does := b.does
		b.mu.Unlock()
		if does != nil {
			if result, err := does(ctx, call); err != nil {
				return result, err
			}
		}
		text, err := call.Args.JSON()
		call.Tx.AfterCommit(func() { b.ran <- string(text) })
		return nil, err
	}})
	b.Server = sitetest.New(t, database, with, func(c *sites.Config) {
		b.pump = pump.New(config(c, func() *sites.Set { return b.Set() }))
		c.Jobs = b.pump
	})
	if err := b.pump.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.pump.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) do(fn func(ctx context.Context, call *method.Call) (any, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.does = fn
}

// enqueue keeps a job in a transaction of its own.
func enqueue(t *testing.T, on *tenant.Tenant, d method.Deferred) (id string) {
	t.Helper()
	if d.Path == "" {
		d.Path = "test.do"
	}
	if d.Caller == nil {
		d.Caller = identity.Root()
	}
	err := on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) (err error) {
		id, err = on.Jobs.Enqueue(t.Context(), tx, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func args(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

// until waits for a job to be in a state.
func until(t *testing.T, on *tenant.Tenant, id string, want jobs.State) *jobs.Job {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		j, err := on.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if j.State == want {
			return j
		}
		if time.Now().After(end) {
			t.Fatalf("the job is %s after %d attempts (%s), want %s", j.State, j.Attempts, j.Error, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (b *bench) next(t *testing.T) string {
	t.Helper()
	select {
	case got := <-b.ran:
		return got
	case <-time.After(2 * time.Minute):
		t.Fatal("no job has run")
		return ""
	}
}

// Each job that was committed runs once, and what it writes is there; of one whose
// transaction was rolled back nothing is seen.
func TestJobsRunOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.do(func(ctx context.Context, call *method.Call) (any, error) {
			return call.Documents.As(call.Caller, call.Tx).Insert(ctx, "ToDo", map[string]any{"description": call.Args.Text("n")})
		})
		const n = 40
		var last string
		for i := range n {
			last = enqueue(t, b.Tenant, method.Deferred{Args: args(map[string]any{"n": fmt.Sprint(i)})})
		}
		err := b.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			_, err := b.Tenant.Jobs.Enqueue(t.Context(), tx, method.Deferred{Path: "test.do", Caller: identity.Root()})
			return errors.Join(err, fault.Invalid("", "rolled back"))
		})
		if fault.KindOf(err) != fault.Validation {
			t.Fatal(err)
		}
		for range n {
			b.next(t)
		}
		until(t, b.Tenant, last, jobs.Done)
		var list []map[string]any
		reply := b.Admin.Get("/api/resource/ToDo?limit_page_length=0&fields=[\"description\"]")
		if err := json.Unmarshal([]byte(reply.Text), &struct{ Data *[]map[string]any }{&list}); err != nil {
			t.Fatal(err)
		}
		seen := map[any]bool{}
		for _, row := range list {
			seen[row["description"]] = true
		}
		if len(list) != n || len(seen) != n {
			t.Fatalf("%d documents, %d of them different, of %d jobs", len(list), len(seen), n)
		}
		if waiting, err := b.Tenant.Jobs.Count(t.Context()); err != nil || waiting != 0 {
			t.Errorf("%d wait, %v", waiting, err)
		}
	})
}

// What fails leaves nothing of what it wrote, is tried again, and is dead in the end; a
// person has it run again.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		fail := true
		b.do(func(ctx context.Context, call *method.Call) (any, error) {
			doc, err := call.Documents.As(call.Caller, call.Tx).Insert(ctx, "ToDo", map[string]any{"description": "x"})
			if err == nil && fail {
				err = fault.Invalid("", "not yet")
			}
			return doc, err
		})
		dead := until(t, b.Tenant, enqueue(t, b.Tenant, method.Deferred{Attempts: 2}), jobs.Dead)
		if dead.Attempts != 2 || dead.Error != "ValidationError: not yet" {
			t.Errorf("after %d attempts: %s", dead.Attempts, dead.Error)
		}
		b.mu.Lock()
		fail = false
		b.mu.Unlock()
		reply := b.Admin.Get("/api/method/framework.job.list?state=dead")
		if list, _ := reply.Body["message"].([]any); len(list) != 1 {
			t.Fatalf("dead letters: %s", reply.Text)
		}
		if reply := b.Admin.Post("/api/method/framework.job.retry", map[string]any{"job": dead.ID}); reply.Status != 200 {
			t.Fatalf("%d %s", reply.Status, reply.Text)
		}
		until(t, b.Tenant, dead.ID, jobs.Done)
		if n := b.Admin.Get("/api/method/framework.client.get_count?doctype=ToDo").Body["message"]; fmt.Sprint(n) != "1" {
			t.Errorf("%v documents of one job that succeeded once", n)
		}
	})
}

// A user who is disabled does nothing any more, whatever was asked for before.
func TestDisabledUser(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		reply := b.Admin.Post("/api/resource/User", map[string]any{"email": "clerk@example.com", "first_name": "Clerk"})
		if reply.Status != 200 {
			t.Fatal(reply.Text)
		}
		clerk, err := b.Tenant.Auth.Caller(t.Context(), "clerk@example.com")
		if err != nil {
			t.Fatal(err)
		}
		id := enqueue(t, b.Tenant, method.Deferred{Caller: clerk, At: time.Now().Add(time.Hour)})
		if reply := b.Admin.Put("/api/resource/User/clerk@example.com", map[string]any{"enabled": 0}); reply.Status != 200 {
			t.Fatal(reply.Text)
		}
		b.write(t, func(tx document.Tx) error { return b.Tenant.Jobs.Retry(t.Context(), tx, id) })
		if j := until(t, b.Tenant, id, jobs.Dead); j.Attempts != 1 {
			t.Errorf("tried %d times", j.Attempts)
		}
	})
}

func (b *bench) write(t *testing.T, fn func(tx document.Tx) error) {
	t.Helper()
	if err := b.Tenant.Store.Write(t.Context(), document.OwnTx, fn); err != nil {
		t.Fatal(err)
	}
}

// While a job with a key waits there is no other; afterwards there may be.
func TestUnique(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		d := method.Deferred{Unique: "nightly", At: time.Now().Add(time.Hour)}
		first := enqueue(t, b.Tenant, d)
		if second := enqueue(t, b.Tenant, d); second != first {
			t.Fatalf("another job %s beside %s", second, first)
		}
		b.write(t, func(tx document.Tx) error { return b.Tenant.Jobs.Retry(t.Context(), tx, first) })
		until(t, b.Tenant, first, jobs.Done)
		if third := enqueue(t, b.Tenant, d); third == first {
			t.Fatal("the key is taken by a job that is done")
		}
	})
}

// Delayed jobs run when they are due, and those that are cancelled never.
func TestDelayAndCancel(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		at := time.Now().Add(700 * time.Millisecond)
		late := enqueue(t, b.Tenant, method.Deferred{At: at, Args: args("late")[:0]})
		gone := enqueue(t, b.Tenant, method.Deferred{At: at})
		b.write(t, func(tx document.Tx) error { return b.Tenant.Jobs.Cancel(t.Context(), tx, gone) })
		until(t, b.Tenant, late, jobs.Done)
		if time.Now().Before(at) {
			t.Error("it ran before it was due")
		}
		until(t, b.Tenant, gone, jobs.Cancelled)
		if n := len(b.ran); n != 1 {
			t.Errorf("%d jobs ran", n)
		}
	})
}

// Cancelling a job that runs undoes what it writes.
func TestCancelWhileItRuns(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		running, finish := make(chan struct{}), make(chan struct{})
		b.do(func(context.Context, *method.Call) (any, error) {
			close(running)
			<-finish
			return nil, nil
		})
		id := enqueue(t, b.Tenant, method.Deferred{})
		<-running
		b.write(t, func(tx document.Tx) error { return b.Tenant.Jobs.Cancel(t.Context(), tx, id) })
		close(finish)
		until(t, b.Tenant, id, jobs.Cancelled)
		// The pump has seen the end of the turn once another job has run.
		b.do(nil)
		until(t, b.Tenant, enqueue(t, b.Tenant, method.Deferred{Args: args(map[string]any{"second": true})}), jobs.Done)
		if got := b.next(t); got != `{"second":true}` {
			t.Errorf("committed: %s", got)
		}
	})
}

// A site with any number of jobs keeps that of another from waiting for more than those
// which run.
func TestFair(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		other, err := b.Set().Create(t.Context(), "other.example.com")
		if err != nil {
			t.Fatal(err)
		}
		const n = 400
		done := make(chan struct{})
		var mu sync.Mutex
		ran := 0
		b.do(func(_ context.Context, call *method.Call) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if call.Args.Text("of") == "other" {
				close(done)
			} else if ran++; ran == n {
				t.Error("all jobs of one site ran before the one of the other")
			}
			return nil, nil
		})
		b.write(t, func(tx document.Tx) error {
			for range n {
				if _, err := b.Tenant.Jobs.Enqueue(t.Context(), tx, method.Deferred{Path: "test.do", Caller: identity.Root()}); err != nil {
					return err
				}
			}
			return nil
		})
		b.next(t)
		id := enqueue(t, other, method.Deferred{Args: args(map[string]any{"of": "other"})})
		until(t, other, id, jobs.Done)
		<-done
	})
}

// Jobs that were committed and not run when a process ended are run by the next one,
// which opens the sites that have some, and no others.
func TestRestart(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		idle, err := b.Set().Create(t.Context(), "idle.example.com")
		if err != nil {
			t.Fatal(err)
		}
		name := b.Tenant.Site.Name
		id := enqueue(t, b.Tenant, method.Deferred{At: time.Now().Add(300 * time.Millisecond)})
		if err := b.pump.Close(); err != nil {
			t.Fatal(err)
		}
		b.Set().Close(name)
		b.Set().Close(idle.Site.Name)
		for b.Set().Tenant(name) != nil || b.Set().Tenant(idle.Site.Name) != nil {
			time.Sleep(time.Millisecond)
		}
		c := b.Set().Config()
		next := pump.New(config(&c, b.Set))
		if err := next.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		b.next(t)
		if b.Set().Tenant(idle.Site.Name) != nil {
			t.Error("a site without jobs was opened")
		}
		for b.Set().Tenant(name) != nil { // it sleeps again
			time.Sleep(time.Millisecond)
		}
		until(t, sitetest.Open(t, b.Set(), name), id, jobs.Done)
	})
}
