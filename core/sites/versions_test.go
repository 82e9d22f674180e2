package sites_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/migration"
	"armature/core/query"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// later is this version with some of the migrations of the two after it: the first
// expands what sites have, the second contracts it.
func later(versions int) func(migration.Plan) migration.Plan {
	return func(p migration.Plan) migration.Plan {
		now := p.Format()
		mark := migration.Step{Name: "mark", Run: func(ctx context.Context, w migration.World, _ string) (string, error) {
			dt := w.Schema.DocType("Note")
			_, err := w.Tx.Replace(ctx, dt, dt.Field("content"), doctype.AllOf{}, "marked")
			return "", err
		}}
		next := []migration.Migration{
			{Number: now + 1, Title: "notes are marked", Reader: now, Steps: []migration.Step{mark}},
			{Number: now + 2, Title: "nobody reads unmarked notes", Reader: now + 1},
		}
		p.Migrations = append(p.Migrations[:len(p.Migrations):len(p.Migrations)], next[:versions]...)
		return p
	}
}

// writing adds notes until it is told to stop, and counts those that were
// acknowledged.
type writing struct {
	t    *testing.T
	stop chan struct{}
	done sync.WaitGroup
	n    atomic.Int64
}

func (w *writing) on(site *tenant.Tenant, who string) {
	w.done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-w.stop:
				return
			case <-time.After(2 * time.Millisecond): // SQLite lets whoever comes at once again pass before other processes
			}
			err := site.Store.Write(context.Background(), document.GroupedTx, func(tx document.Tx) error {
				values := map[string]any{"title": fmt.Sprintf("%s %d", who, i)}
				_, err := site.Documents.As(identity.Root(), tx).Insert(context.Background(), "Note", values)
				return err
			})
			if err != nil {
				w.t.Errorf("%s: %v", who, err)
				return
			}
			w.n.Add(1)
		}
	})
}

func (w *writing) atLeast(n int64) {
	for end := w.n.Load() + n; w.n.Load() < end && !w.t.Failed(); {
		select {
		case <-w.t.Context().Done():
			return
		default:
		}
	}
}

// Servers of two versions use a site side by side while it is expanded, under load
// and without losing anything. When it is contracted the older one lets go of it,
// says why, and changes nothing.
func TestVersionsSideBySide(t *testing.T) {
	test := func(t *testing.T, c sites.Config) {
		set := func(versions int) *sites.Set {
			c := c
			c.Plan = later(versions)
			s := sites.NewSet(c)
			t.Cleanup(s.CloseAll)
			return s
		}
		older, newer, newest := set(0), set(1), set(2)
		one := sitetest.Create(t, older, "default")
		w := &writing{t: t, stop: make(chan struct{})}
		w.on(one, "older")
		w.atLeast(10)
		two, err := newer.Open(t.Context(), "default")
		for fault.KindOf(err) == fault.Unavailable && t.Context().Err() == nil {
			two, err = newer.Open(t.Context(), "default") // as a client does
		}
		if err != nil {
			t.Fatal(err)
		}
		w.on(two, "newer")
		w.atLeast(20)
		close(w.stop)
		w.done.Wait()
		if got := countNotes(t, two); got != w.n.Load() {
			t.Errorf("%d notes, and %d were acknowledged", got, w.n.Load())
		}
		if s := set(0); sitetest.Acquired(t, s, "any") != "default" {
			t.Error("a server of the older version does not serve a site that was only expanded")
		}
		if _, err := newest.Open(t.Context(), "default"); err != nil {
			t.Fatal(err)
		}
		if _, err := set(0).Open(t.Context(), "default"); !errors.Is(err, migration.ErrNewer) {
			t.Errorf("an older server opens a contracted site: %v, want ErrNewer", err)
		}
		if got := countNotes(t, two); got != w.n.Load() {
			t.Errorf("afterwards %d notes, and %d were acknowledged", got, w.n.Load())
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		_, layout := sitetest.NewSet(t)
		test(t, sitetest.Config(t, layout))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		_, layout := sitetest.NewSet(t)
		c := sitetest.Config(t, layout)
		sitetest.OnPostgres(t, &c)
		test(t, c)
	})
}

func countNotes(t *testing.T, site *tenant.Tenant) (n int64) {
	t.Helper()
	dt := site.Documents.Schema().DocType("Note")
	err := site.Store.Read(t.Context(), func(tx document.Tx) (err error) {
		n, err = tx.Count(t.Context(), &doctype.Select{DocType: dt, Where: doctype.Compare{
			Operand: doctype.Operand{Field: dt.Field("title")}, Op: query.Is, Value: true,
		}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
