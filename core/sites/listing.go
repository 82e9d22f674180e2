package sites

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"armature/core/sites/registry"
)

// listing is the sites there are, as the registry had them when it was last looked.
type listing struct {
	registry registry.Registry
	log      *slog.Logger
	forget   func(name string) // told of a site that is gone

	table      atomic.Pointer[table]
	refreshing *semaphore.Weighted // one look at the registry at a time
	blind      bool                // the last one failed; of whoever looks
}

func newListing(from registry.Registry, log *slog.Logger, forget func(name string)) *listing {
	l := &listing{registry: from, log: log, forget: forget, refreshing: semaphore.NewWeighted(1)}
	l.table.Store(&table{unknown: true})
	return l
}

// now is what there is as of the last look.
func (l *listing) now() *table { return l.table.Load() }

// look brings the table to what the registry has. Where that cannot be read
// the table stays as it is, which is logged once; where there was none yet nobody
// goes on without it, and whoever asked says so.
func (l *listing) look(ctx context.Context) error {
	if err := l.refreshing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.refreshing.Release(1)
	found, err := l.registry.Look(ctx)
	if err != nil {
		if !l.blind && !l.now().unknown && !errors.Is(err, context.Canceled) {
			l.log.Error("look for sites; those that are known go on", "error", err)
			l.blind = true
		}
		return err
	}
	if l.blind {
		l.log.Info("sites can be looked for again")
		l.blind = false
	}
	l.take(ctx, found)
	return nil
}

// lookBriefly looks for what has become of the sites, for a while.
func (l *listing) lookBriefly(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	_ = l.look(ctx) // logged; the next round tries again
}

// take makes a table of what was found. Sites that were there before keep their
// entries; those that are there no more are let go of.
func (l *listing) take(ctx context.Context, found []*registry.Record) {
	old := l.now()
	changed := old.unknown || len(found) != len(old.entries)
	entries := make([]*entry, len(found))
	for i, r := range found {
		e := old.byName[r.Name]
		switch {
		case e == nil || e.record.Load().ID != r.ID:
			e, changed = newEntry(r), true
		case e.record.Load() != r:
			e.update(r)
			changed = true
		}
		entries[i] = e
	}
	if !changed {
		return
	}
	next := newTable(entries)
	l.table.Store(next)
	for _, gone := range old.entries {
		if next.byName[gone.name] != gone {
			l.drop(ctx, gone)
		}
	}
}

// drop lets go of a site that is gone.
func (l *listing) drop(ctx context.Context, e *entry) {
	l.log.Info("site is gone", "site", e.name)
	e.leave(registry.Missing(e.name))
	l.forget(e.name)
	l.registry.Left(ctx, e.record.Load())
}

// entry is the site of a name, for which the registry is asked where none is known;
// fs.ErrNotExist: there is none.
func (l *listing) entry(ctx context.Context, name string) (*entry, error) {
	if e := l.now().byName[name]; e != nil {
		return e, nil
	}
	if err := l.look(ctx); err != nil {
		return nil, err
	}
	if e := l.now().byName[name]; e != nil {
		return e, nil
	}
	return nil, registry.Missing(name)
}
