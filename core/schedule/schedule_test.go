package schedule_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/jobs/pump"
	"armature/core/method"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// clock stands still until it is put forward.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.at, err = time.Parse(time.RFC3339, at); err != nil {
		panic(err)
	}
}

// bench is a server whose clock tests set, with a method that they can schedule.
type bench struct {
	*sitetest.Server
	clock *clock
	mu    sync.Mutex
	ran   []string // who it was called as
}

func each(t *testing.T, test func(t *testing.T, b *bench), options ...sitetest.Option) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": sitetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			b := &bench{clock: &clock{}}
			b.clock.set("2026-03-28T12:00:00Z")
			with := sitetest.WithMethods(&method.Method{Path: "test.do", Func: func(_ context.Context, call *method.Call) (any, error) {
				user := call.Caller.User
				call.Tx.AfterCommit(func() {
					b.mu.Lock()
					defer b.mu.Unlock()
					b.ran = append(b.ran, user)
				})
				return nil, nil
			}})
			b.Server = sitetest.New(t, database(t), append(options, with, func(c *sites.Config) { c.Clock = b.clock.now })...)
			test(t, b)
		})
	}
}

// fire has eight processes' worth of callers do what is due at a time.
func (b *bench) fire(t *testing.T, at string) {
	t.Helper()
	b.clock.set(at)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if err := b.Tenant.Schedules.Fire(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
}

// waiting are the jobs that wait, which are run and so out of the way.
func (b *bench) waiting(t *testing.T) (n int) {
	t.Helper()
	due, _, err := b.Tenant.Jobs.Due(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, ticket := range due {
		if outcome, err := b.Tenant.Jobs.Run(t.Context(), ticket); err != nil || outcome != jobs.Succeeded {
			t.Errorf("%v %v", outcome, err)
		}
	}
	return len(due)
}

// TestFires: a document has its method called once at each of its times, however many
// look, as its owner; what was missed is made up for by one call, or by none.
func TestFires(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		if _, err := b.Tenant.Schedules.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		zoe := b.User(t, "zoe@example.com", identity.SystemManager)
		made := zoe.Post("/api/resource/Scheduled Job", map[string]any{"method": "test.do", "cron": "30 2 * * *", "time_zone": "Europe/Zurich"}).OK(t).Data(t)
		name := fmt.Sprint(made["name"])
		b.fire(t, "2026-03-29T00:59:59Z")
		if n := b.waiting(t); n != 0 {
			t.Errorf("%d jobs before the time", n)
		}
		b.fire(t, "2026-03-29T01:00:00Z") // the clock is put from 2 to 3
		if n := b.waiting(t); n != 1 || fmt.Sprint(b.ran) != "[zoe@example.com]" {
			t.Errorf("%d jobs on the day on which the clock is put forward, as %v", n, b.ran)
		}
		b.fire(t, "2026-03-30T00:30:00Z")
		if n := b.waiting(t); n != 1 {
			t.Errorf("%d jobs on the day after", n)
		}
		b.fire(t, "2026-04-03T12:00:00Z")
		if n := b.waiting(t); n != 1 {
			t.Errorf("%d jobs after four days without a server", n)
		}
		b.Admin.Put("/api/resource/Scheduled Job/"+name, map[string]any{"missed": "Skip"}).Fails(t, 403, "PermissionError")
		zoe.Put("/api/resource/Scheduled Job/"+name, map[string]any{"missed": "Skip"}).OK(t)
		b.fire(t, "2026-04-06T12:00:00Z")
		if n := b.waiting(t); n != 0 {
			t.Errorf("%d jobs after days that are skipped", n)
		}
		b.fire(t, "2026-04-07T00:31:00Z") // a server that is started anew is late by a minute
		if n := b.waiting(t); n != 1 {
			t.Errorf("%d jobs a minute late", n)
		}
		list := fmt.Sprint(b.Admin.Get("/api/method/framework.schedule.list").OK(t).Message(t))
		if !strings.Contains(list, "next:2026-04-08 0") || !strings.Contains(list, "Europe/Zurich") {
			t.Errorf("the list is %s", list)
		}
		b.Admin.Put("/api/resource/Scheduled Job/"+name, map[string]any{"enabled": 0}).OK(t)
		b.fire(t, "2026-04-08T12:00:00Z")
		if n := b.waiting(t); n != 0 {
			t.Errorf("%d jobs of one that is disabled", n)
		}
		b.Admin.Put("/api/resource/Scheduled Job/"+name, map[string]any{"enabled": 1}).Fails(t, 403, "PermissionError")
		zoe.Put("/api/resource/Scheduled Job/"+name, map[string]any{"enabled": 1, "missed": "Run Once"}).OK(t)
		zoe.Delete("/api/resource/Scheduled Job/" + name)
		b.fire(t, "2026-04-10T12:00:00Z")
		if n := b.waiting(t); n != 0 {
			t.Errorf("%d jobs of one that was deleted", n)
		}
	})
}

// TestRefused: what can never run is not saved.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, wrong := range []map[string]any{
			{"method": "test.do", "cron": "61 * * * *"},
			{"method": "test.do", "cron": "0 6 * * *", "time_zone": "Mars"},
			{"method": "test.do", "cron": "0 6 * * *", "arguments": "[1]"},
			{"method": "test.nothing", "cron": "0 6 * * *"},
		} {
			b.Admin.Post("/api/resource/Scheduled Job", wrong).Fails(t, 417, "ValidationError")
		}
		b.User(t, "joe@example.com").Post("/api/resource/Scheduled Job", map[string]any{"method": "test.do", "cron": "0 6 * * *"}).Fails(t, 403, "PermissionError")
	})
}

// TestWakes: a site that sleeps is woken for its schedule.
func TestWakes(t *testing.T) {
	var p *pump.Pump
	var b *bench
	running := func(c *sites.Config) {
		pc := pump.Config{Database: c.Database, Schema: sites.QueueSchema(c.Registry), Now: func() time.Time { return b.clock.now() }}
		if c.Database == "" {
			pc.Database = c.Layout.Queue()
		}
		pc.Borrow = func(ctx context.Context, site string) (*jobs.Queue, func(), error) {
			t, release, err := b.Set().Borrow(ctx, site)
			if err != nil {
				return nil, nil, err
			}
			return t.Jobs, release, nil
		}
		p = pump.New(pc)
		c.Jobs = p
	}
	each(t, func(t *testing.T, made *bench) {
		b = made
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		b.Admin.Post("/api/resource/Scheduled Job", map[string]any{"method": "test.do", "cron": "0 6 * * *"}).OK(t)
		name := b.Tenant.Site.Name
		eventually(t, "the site sleeps", func() bool { b.Set().Close(name); return b.Set().Tenant(name) == nil })
		b.clock.set("2026-03-30T06:00:00Z")
		eventually(t, "the method was called", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	}, running)
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + ": not within two minutes")
		}
	}
}
