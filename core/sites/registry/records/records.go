package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/site"
	"armature/core/sites/datafolder"
	"armature/core/sites/registry"
	"armature/core/store"
)

// Config is what the registry needs.
type Config struct {
	Layout   datafolder.Layout
	Database string       // URL of the PostgreSQL database of all sites
	Schema   string       // of the registry itself; empty: DefaultSchema
	Master   *site.Master // seals configurations
	Logger   *slog.Logger
	Store    store.Options
}

// DefaultSchema is the schema that a PostgreSQL database has its sites listed in.
const DefaultSchema = "armature"

// Records is the registry in a database: a table of every site there has ever
// been, in a schema beside those of the sites. The schema of a site is never
// another site's, whatever becomes of it, and so it is the site's identity: who
// has not noticed yet that a site was dropped cannot meet the one made after it.
//
// Each change raises the epoch of the schema in the same transaction, and each
// process reads that one number every second.
type Records struct {
	c Config

	table   atomic.Pointer[table]
	opening *semaphore.Weighted // of table

	looking  *semaphore.Weighted // of what follows
	known    bool
	versions document.Versions
	list     []*registry.Record
	texts    map[string]string // of the configurations in list, by id

	mu         sync.Mutex
	maintained map[string]time.Time // when housekeeping was last known to be done, by id
	left       map[string]string    // folders on this machine of the sites that were found gone, by id
}

// New makes the registry of a database. It opens nothing.
func New(c Config) *Records {
	if c.Schema == "" {
		c.Schema = DefaultSchema
	}
	return &Records{c: c, opening: semaphore.NewWeighted(1), looking: semaphore.NewWeighted(1), maintained: map[string]time.Time{}, left: map[string]string{}}
}

// open opens the table at the first call, and at the next ones where that has
// failed.
func (r *Records) open(ctx context.Context) (*table, error) {
	if t := r.table.Load(); t != nil {
		return t, nil
	}
	if err := r.opening.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.opening.Release(1)
	if t := r.table.Load(); t != nil {
		return t, nil
	}
	t, err := openTable(ctx, &r.c)
	if err == nil {
		r.table.Store(t)
	}
	return t, err
}

// openTable opens the table, as this program has it.
func openTable(ctx context.Context, c *Config) (*table, error) {
	o := c.Store
	// One connection is all it takes, as a rule, beside those of the sites: a busy
	// server must see what becomes of its sites all the same.
	o.Logger, o.MaxConns, o.Budget = c.Logger, 1, nil
	db, err := store.Open(ctx, c.Database, c.Schema, o)
	if err != nil {
		return nil, fmt.Errorf("open the list of sites: %w", err)
	}
	t := &table{c: c, db: db}
	if err := t.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the list of sites: %w", err), db.Close())
	}
	return t, nil
}

// prepare makes the table where it is missing or older than this program, and
// takes over what the data folder has.
func (t *table) prepare(ctx context.Context) error {
	keys, err := t.read(ctx, is("state", keyed))
	if fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return err
	}
	if err != nil { // no such table, or column
		err = t.db.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, siteTable()) })
		if err != nil {
			return err
		}
	}
	if err := t.checkMaster(ctx, keys); err != nil {
		return err
	}
	return t.takeOver(ctx)
}

// Ping implements Registry.
func (r *Records) Ping(ctx context.Context) error {
	t, err := r.open(ctx)
	if err != nil {
		return err
	}
	return t.db.Ping(ctx)
}

// Close implements Registry.
func (r *Records) Close() error {
	if t := r.table.Load(); t != nil {
		return t.db.Close()
	}
	return nil
}
