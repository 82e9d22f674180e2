package schedule

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"armature/core/crontab"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/query"
)

// Queue keeps the jobs that are made of schedules. *jobs.Queue satisfies it.
type Queue interface {
	method.Later
	// Expect has the site looked at once tx is committed.
	Expect(ctx context.Context, tx document.Tx) error
}

// Config is what a Service needs of a site.
type Config struct {
	Store document.Store
	Queue func() Queue
	Now   func() time.Time // the site's, in its time zone
	// Plugins are the schedules of plugins that serve the site, as approved; known is false
	// where the site was opened without its plugins.
	Plugins func() (list []method.Scheduled, known bool)
	// PluginUser is as whom those of a plugin run, and Frame what narrows it.
	PluginUser func(plugin string) string
	Frame      func(plugin string, user *identity.Caller) *identity.Caller
	// Admits is an error where a caller may not call a method.
	Admits func(path, verb string, caller *identity.Caller) error
	Logger *slog.Logger
}

// Service is the schedules of one open site. It may be used concurrently.
type Service struct {
	c Config

	mu     sync.Mutex
	next   time.Time // as it was read at
	readAt time.Time
}

// New makes the service of a site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{c: c}
}

// knownFor is how long what was read of the next time is good for: another process may
// have changed it. What this one changes it knows.
const knownFor = time.Second

// Next implements jobs.Clock.
func (s *Service) Next(ctx context.Context) (next time.Time, err error) {
	s.mu.Lock()
	next, at := s.next, s.readAt
	s.mu.Unlock()
	now := time.Now()
	if !at.IsZero() && now.Sub(at) < knownFor {
		return next, nil
	}
	sel := &doctype.Select{DocType: Table(), Columns: columns("due"), Where: before(never), Order: []doctype.OrderBy{{Operand: operand("due")}}, Length: 1}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		next = time.Time{}
		return tx.Rows(ctx, sel, func(v []any) error {
			due, _ := v[0].(int64)
			next = time.UnixMicro(due)
			return nil
		})
	})
	if err != nil {
		return next, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.readAt = next, now
	return next, nil
}

// changed has the next time read anew.
func (s *Service) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readAt = time.Time{}
}

// lateBy is how late a schedule may be that was not missed: a site takes a moment to
// wake, and a server to be started anew.
const lateBy = 2 * time.Minute

// atOnce is how many schedules are fired in one go.
const atOnce = 100

// Fire implements jobs.Clock. Each schedule is moved to its next time in the transaction
// that keeps its job, and only from the time at which it was seen, so that one of
// several processes makes the job.
func (s *Service) Fire(ctx context.Context) error {
	now := s.c.Now()
	if next, err := s.Next(ctx); err != nil || next.IsZero() || next.After(now) {
		return err
	}
	sel := &doctype.Select{
		DocType: Table(), Columns: columns("name"), Where: before(now.UnixMicro() + 1),
		Order: []doctype.OrderBy{{Operand: operand("due")}}, Length: atOnce,
	}
	due, err := s.names(ctx, sel)
	if err != nil {
		return err
	}
	defer s.changed()
	for _, name := range due {
		if err := s.fire(ctx, name, now); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) fire(ctx context.Context, name string, now time.Time) error {
	return s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		r, err := get(ctx, tx, name)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil || r.Due.IsZero() || r.Due.After(now) {
			return err
		}
		if r.Plugin != "" && !s.declared(r) {
			_, err := tx.Delete(ctx, schema(), Table(), name)
			return err
		}
		set := map[string]any{"due": s.after(r, now)}
		missed := r.Skip && now.Sub(r.Due) > lateBy
		if !missed {
			set["last"] = now.UnixMicro()
		}
		ok, err := tx.UpdateIf(ctx, Table(), name, map[string]any{"due": r.Due.UnixMicro()}, set)
		if err != nil || !ok || missed {
			return err
		}
		caller := r.caller()
		if r.Plugin != "" {
			caller = s.c.Frame(r.Plugin, caller)
		}
		_, err = s.c.Queue().Enqueue(ctx, tx, method.Deferred{Path: r.Method, Args: r.Args, Caller: caller, Unique: key(name)})
		if fault.KindOf(err) == fault.Validation {
			// There is no room for it: like a time that was missed.
			tx.AfterCommit(func() {
				s.c.Logger.Error("what a schedule asks for cannot be kept", "schedule", name, "method", r.Method, "error", err)
			})
			return nil
		}
		return err
	})
}

// key keeps a schedule from running beside itself: while one of its jobs waits or runs,
// no other is made.
func key(name string) string { return "schedule:" + name }

// after is when a schedule is due next.
func (s *Service) after(r *Row, now time.Time) int64 {
	c, err := crontab.Parse(r.Cron, r.TimeZone, now.Location())
	if err != nil { // a zone that the machine does not know any more
		s.c.Logger.Error("a schedule is not due any more", "schedule", r.Name, "error", err)
		return never
	}
	return micro(c.Next(now))
}

// declared reports whether the plugin of a row still has the schedule.
func (s *Service) declared(r *Row) bool {
	list, known := s.c.Plugins()
	return !known || slices.ContainsFunc(list, func(d method.Scheduled) bool { return pluginRow(d) == r.Name })
}

// pluginRow is the name of the row of a plugin's schedule. What runs when is part of it:
// another line of cron is another schedule.
func pluginRow(d method.Scheduled) string { return d.Plugin + "|" + d.Cron + "|" + d.TimeZone }

// Follow takes in the schedules that plugins have now. Those that they have no more go
// when they are due.
func (s *Service) Follow(ctx context.Context) error {
	declared, _ := s.c.Plugins()
	if len(declared) == 0 {
		return nil
	}
	now := s.c.Now()
	want := make([]*Row, 0, len(declared))
	for _, d := range declared {
		c, err := crontab.Parse(d.Cron, d.TimeZone, now.Location())
		if err != nil {
			s.c.Logger.Error("a schedule of a plugin", "plugin", d.Plugin, "error", err)
			continue
		}
		want = append(want, &Row{
			Name: pluginRow(d), Plugin: d.Plugin, Cron: d.Cron, TimeZone: d.TimeZone, Skip: d.Skip, Method: d.Path, Args: d.Args,
			User: s.c.PluginUser(d.Plugin), Due: c.Next(now),
		})
	}
	missing := false
	err := s.c.Store.Read(ctx, func(tx document.Tx) error {
		missing = false
		for _, r := range want {
			same, err := s.has(ctx, tx, r)
			if err != nil {
				return err
			}
			missing = missing || !same
		}
		return nil
	})
	if err != nil || !missing {
		return err
	}
	err = s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		for _, r := range want {
			if same, err := s.has(ctx, tx, r); err != nil {
				return err
			} else if same {
				continue
			}
			if err := s.put(ctx, tx, r, true); err != nil {
				return err
			}
		}
		return s.c.Queue().Expect(ctx, tx)
	})
	s.changed()
	return err
}

// has reports whether a row is there as it should be.
func (s *Service) has(ctx context.Context, tx document.Tx, r *Row) (bool, error) {
	now, err := get(ctx, tx, r.Name)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil && now.Skip == r.Skip && now.Method == r.Method && string(now.Args) == string(r.Args), err
}

// put stores a row. One that is there keeps its next time where keepDue says so.
func (s *Service) put(ctx context.Context, tx document.Tx, r *Row, keepDue bool) error {
	set, err := r.values()
	if err != nil {
		return err
	}
	update := set
	if keepDue {
		update = make(map[string]any, len(set))
		for k, v := range set {
			if k != "due" {
				update[k] = v
			}
		}
	}
	ok, err := tx.UpdateIf(ctx, Table(), r.Name, map[string]any{}, update)
	if err != nil || ok {
		return err
	}
	doc := doctype.NewDocument(Table())
	stamp := doctype.FormatDatetime(s.c.Now())
	for field, value := range map[string]any{"name": r.Name, "creation": stamp, "modified": stamp, "owner": r.User, "modified_by": r.User, "last": int64(0)} {
		doc.Put(field, value)
	}
	for field, value := range set {
		doc.Put(field, value)
	}
	return tx.Insert(ctx, doc)
}

// List returns the schedules that are due some time, the next first. Those of plugins
// that do not have them any more are left out.
func (s *Service) List(ctx context.Context) (list []*Row, err error) {
	sel := &doctype.Select{DocType: Table(), Columns: columns("name"), Where: before(never), Order: []doctype.OrderBy{{Operand: operand("due")}, {Operand: operand("name")}}, Length: maxListed}
	names, err := s.names(ctx, sel)
	if err != nil {
		return nil, err
	}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		list = nil
		for _, name := range names {
			r, err := get(ctx, tx, name)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			if r.Plugin == "" || s.declared(r) {
				list = append(list, r)
			}
		}
		return nil
	})
	return list, err
}

// maxListed is how many schedules are listed.
const maxListed = 1000

func (s *Service) names(ctx context.Context, sel *doctype.Select) (names []string, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		names = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			names = append(names, name)
			return nil
		})
	})
	return names, err
}

func get(ctx context.Context, tx document.Tx, name string) (*Row, error) {
	doc, err := tx.Get(ctx, schema(), Table(), name, false)
	if err != nil {
		return nil, err
	}
	return of(doc)
}

func columns(names ...string) []doctype.Column {
	cols := make([]doctype.Column, len(names))
	for i, name := range names {
		cols[i] = doctype.Column{Operand: operand(name), Key: name}
	}
	return cols
}

func operand(field string) doctype.Operand { return doctype.Operand{Field: Table().Field(field)} }

func before(moment int64) doctype.Where {
	return doctype.Compare{Operand: operand("due"), Op: query.Lt, Value: moment}
}
