package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"armature/core/doctype"
	"armature/core/query"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/store"
)

// putBack is how long it may take to undo what was interrupted.
const putBack = 10 * time.Second

// erase erases a site for good. Where there is no such site it finishes or clears
// away what was broken off under the name, and only where there is nothing of the
// kind does it erase the sites that were dropped: who repeats a command that was
// interrupted means the site that it was about, not the copies kept of others.
//
// A site that is there is leaving until every server has let go of it, and can be
// put back for so long; it is erasing from before the first thing is deleted, and
// nothing leads back from there.
func (t *table) erase(ctx context.Context, name string) (kept int, err error) {
	rows, err := t.erasable(ctx, name)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, registry.Missing(name)
	}
	if err := t.leave(ctx, rows); err != nil {
		return 0, err
	}
	for _, one := range rows {
		if err := t.condemn(ctx, one); err != nil {
			return 0, err
		}
	}
	for _, one := range rows {
		if err := t.wipe(ctx, one); err != nil {
			return 0, err
		}
	}
	rows, err = t.read(ctx, doctype.AllOf{is("site", name), doctype.AnyOf{is("state", dropped), is("state", leaving), is("state", erasing)}})
	return len(rows), err
}

// erasable finds the rows that Erase is about: the site that is there, else those
// that were broken off, else those that were dropped.
func (t *table) erasable(ctx context.Context, name string) (rows []row, err error) {
	for _, where := range []doctype.Where{
		is("live", name),
		doctype.AllOf{is("site", name), doctype.AnyOf{is("state", leaving), is("state", erasing), doctype.AllOf{is("state", staged), abandoned()}}},
		doctype.AllOf{is("site", name), is("state", dropped)},
	} {
		if rows, err = t.read(ctx, where); err != nil || len(rows) > 0 {
			break
		}
	}
	return rows, err
}

// abandoned is what nobody can be at work on any more.
func abandoned() doctype.Where {
	return doctype.Compare{Operand: operand("modified"), Op: query.Lt, Value: doctype.FormatDatetime(time.Now().UTC().Add(-datafolder.BrokenOff))}
}

// sweep clears away what nobody can be at work on any more.
func (t *table) sweep(ctx context.Context) error {
	rows, err := t.read(ctx, doctype.AllOf{doctype.AnyOf{is("state", staged), is("state", erasing)}, abandoned()})
	for _, one := range rows {
		t.c.Logger.Info("what is left of a site that was not made or erased to its end is removed", "site", one.site, "schema", one.schema)
		failed := t.condemn(ctx, one)
		if failed == nil {
			failed = t.wipe(ctx, one)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// leave takes the site that is there off every server, or waits for that where
// another process has begun it. Interrupted, it leaves what it was.
func (t *table) leave(ctx context.Context, rows []row) error {
	wait := false
	for i, one := range rows {
		switch one.state {
		case live: // the only one
			if err := t.moveAlone(ctx, one, live, leaving); err != nil {
				return err
			}
			rows[i].state = leaving
			if err := registry.Settle(ctx); err != nil {
				return t.restoreLeaving(ctx, one, err)
			}
			return nil
		case leaving:
			wait = true
		}
	}
	if wait {
		return registry.Settle(ctx)
	}
	return nil
}

// restoreLeaving has a site there again of which nothing is deleted, because of an
// error that it says so with. Where another of its name was made meanwhile it is a
// dropped one; where another process erases it already, that is what becomes of it.
func (t *table) restoreLeaving(ctx context.Context, one row, because error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), putBack)
	defer stop()
	is := "is there again"
	err := t.moveAlone(ctx, one, leaving, live)
	if errors.Is(err, fs.ErrExist) {
		is = "is a dropped one, since another was made of its name"
		err = t.moveAlone(ctx, one, leaving, dropped)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: site %s is not put back: another process has begun to delete it, or has put it back", because, one.site)
	case err != nil:
		return fmt.Errorf("%w: site %s is not put back, which site drop --undo does: %w", because, one.site, err)
	}
	return fmt.Errorf("%w: nothing was deleted, site %s %s", because, one.site, is)
}

// condemn says of a row that its things are about to be deleted, which another
// process may have said before.
func (t *table) condemn(ctx context.Context, one row) error {
	if one.state == erasing {
		return nil
	}
	err := t.moveAlone(ctx, one, one.state, erasing)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rows, failed := t.read(ctx, is("name", one.schema))
	switch {
	case failed != nil:
		return failed
	case len(rows) == 1 && (rows[0].state == erasing || rows[0].state == erased):
		return nil
	}
	return fmt.Errorf("site %s is not erased: it was brought back meanwhile", one.site)
}

// wipe deletes what a site has that is being erased.
func (t *table) wipe(ctx context.Context, one row) error {
	if err := store.Drop(ctx, t.c.Database, one.schema); err != nil {
		return err
	}
	if err := os.RemoveAll(t.c.Layout.Site(folderOf(one.schema))); err != nil {
		return err
	}
	err := t.moveAlone(ctx, one, erasing, erased)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else was at it, too
	}
	return err
}
