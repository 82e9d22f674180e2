package sites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
	"armature/core/site"
	"armature/core/store"
)

// records is the registry in a database: a table of every site there has ever
// been, in a schema beside those of the sites. The schema of a site is never
// another site's, whatever becomes of it, and so it is the site's identity: who
// has not noticed yet that a site was dropped cannot meet the one made after it.
//
// Each change raises the epoch of the schema in the same transaction, and each
// process reads that one number every second.
type records struct {
	c RegistryConfig

	db      atomic.Pointer[store.Store]
	opening *semaphore.Weighted // of db

	looking  *semaphore.Weighted // of what follows
	known    bool
	versions document.Versions
	list     []*Record
	texts    map[string]string // of the configurations in list, by id

	mu         sync.Mutex
	maintained map[string]time.Time // when housekeeping was last known to be done, by id
	left       map[string]string    // folders on this machine of the sites that were found gone, by id
}

// What a site in the table can be.
const (
	staged  = "staged"  // being made
	live    = "live"    // there
	dropped = "dropped" // gone, with everything it had in its schema
	leaving = "leaving" // gone, with everything it had; to be erased when every server has let go of it
	erasing = "erasing" // gone, and its schema is going
	erased  = "erased"  // gone for good
	keyed   = "key"     // none: the row that tells the master key
)

// siteTable is the table. A document has the name of the site's schema.
var siteTable = sync.OnceValue(func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{
		Name: "Registered Site", Table: "armature_site",
		Fields: []doctype.FieldDefinition{
			{Name: "site", Type: "Data", Indexed: 1},
			{Name: "live", Type: "Data", Unique: 1}, // the site's name while it is there, else nothing
			{Name: "state", Type: "Data"},
			{Name: "config", Type: "Long Text"}, // sealed; empty: nothing is configured
			{Name: "tended", Type: "Int"},       // seconds
		},
	})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
})

// siteSchema has the one table.
var siteSchema = sync.OnceValue(func() *doctype.Schema {
	return doctype.NewSchema(0, []*doctype.DocType{siteTable()})
})

func newRecords(c RegistryConfig) *records {
	if c.Schema == "" {
		c.Schema = DefaultRegistry
	}
	return &records{c: c, opening: semaphore.NewWeighted(1), looking: semaphore.NewWeighted(1), maintained: map[string]time.Time{}, left: map[string]string{}}
}

// schemaPrefix begins the name of every site's schema. What follows is the name
// of the site's folder on each machine.
const schemaPrefix = "site_"

func folderOf(schema string) string { return strings.TrimPrefix(schema, schemaPrefix) }

// open opens the database at the first call, and at the next ones where that has
// failed.
func (r *records) open(ctx context.Context) (*store.Store, error) {
	if db := r.db.Load(); db != nil {
		return db, nil
	}
	if err := r.opening.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.opening.Release(1)
	if db := r.db.Load(); db != nil {
		return db, nil
	}
	o := r.c.Store
	// One connection is all it takes, as a rule, beside those of the sites: a busy
	// server must see what becomes of its sites all the same.
	o.Logger, o.MaxConns, o.Budget = r.c.Logger, 1, nil
	db, err := store.Open(ctx, r.c.Database, r.c.Schema, o)
	if err != nil {
		return nil, fmt.Errorf("open the list of sites: %w", err)
	}
	if err := r.prepare(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the list of sites: %w", err), db.Close())
	}
	r.db.Store(db)
	return db, nil
}

// prepare makes the table where it is missing or older than this program, and
// takes over what the data folder has.
func (r *records) prepare(ctx context.Context, db *store.Store) error {
	keys, err := r.read(ctx, db, is("state", keyed))
	if fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return err
	}
	if err != nil { // no such table, or column
		err = db.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, siteTable()) })
		if err != nil {
			return err
		}
	}
	if err := r.checkMaster(ctx, db, keys); err != nil {
		return err
	}
	return r.takeOver(ctx, db)
}

// checkMaster is site.ErrWrongMaster where the configurations are sealed with
// another master key. The first process to come leaves a row to tell it by, unless
// there are sites from before there was a table and it cannot open their keys.
func (r *records) checkMaster(ctx context.Context, db *store.Store, keys []row) error {
	if len(keys) == 0 {
		if err := r.proveMaster(ctx); err != nil {
			return err
		}
		err := r.insert(ctx, db, row{schema: r.c.Schema, state: keyed, config: r.c.Master.SealConfig(keyed, nil)})
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
		if keys, err = r.read(ctx, db, is("state", keyed)); err != nil { // somebody else was faster
			return err
		}
	}
	for _, one := range keys {
		if _, err := r.c.Master.OpenConfig(keyed, one.config); err != nil {
			return err
		}
	}
	return nil
}

// row is a document of the table.
type row struct {
	schema, site, state, config string

	modified string // UTC, as stamp writes it
	tended   time.Time
}

// read reads rows; where nil: those of the sites there are, by name.
func (r *records) read(ctx context.Context, db *store.Store, where doctype.Where) (rows []row, err error) {
	if where == nil {
		where = is("state", live)
	}
	sel := &doctype.Select{DocType: siteTable(), Where: where, Order: []doctype.OrderBy{
		{Operand: operand("site")}, {Operand: operand("modified")}, {Operand: operand("name")},
	}}
	for _, field := range []string{"name", "site", "state", "config", "modified", "tended"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: operand(field), Key: field})
	}
	err = db.Read(ctx, func(tx document.Tx) error {
		rows = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			var one row
			for i, to := range []*string{&one.schema, &one.site, &one.state, &one.config, &one.modified} {
				*to, _ = v[i].(string)
			}
			seconds, _ := v[5].(int64)
			one.tended = time.Unix(seconds, 0)
			rows = append(rows, one)
			return nil
		})
	})
	return rows, err
}

func operand(field string) doctype.Operand {
	return doctype.Operand{Field: siteTable().Field(field)}
}

func is(field, value string) doctype.Where {
	return doctype.Compare{Operand: operand(field), Op: query.Eq, Value: value}
}

// Look implements Registry: it asks whether anything has changed, and for
// everything where it has.
func (r *records) Look(ctx context.Context) ([]*Record, error) {
	db, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.looking.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.looking.Release(1)
	// The number first: what changes after it was read is seen by the next look.
	versions, err := db.Versions(ctx)
	if err != nil {
		return nil, err
	}
	if r.known && versions == r.versions {
		return r.list, nil
	}
	rows, err := r.read(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	r.take(rows)
	r.clearLeft(ctx, db)
	r.known, r.versions = true, versions
	return r.list, nil
}

// take makes records of rows, and keeps those whose rows are as they were.
func (r *records) take(rows []row) {
	before, texts := make(map[string]*Record, len(r.list)), make(map[string]string, len(rows))
	for _, old := range r.list {
		before[old.id] = old
	}
	list := make([]*Record, 0, len(rows))
	for _, one := range rows {
		old := before[one.schema]
		if old == nil || r.texts[one.schema] != one.config {
			old = r.record(one, old)
		}
		texts[one.schema] = one.config
		list = append(list, old)
	}
	slices.SortFunc(list, func(a, b *Record) int { return strings.Compare(a.Name, b.Name) })
	r.list, r.texts = list, texts
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range rows {
		if one.tended.After(r.maintained[one.schema]) {
			r.maintained[one.schema] = one.tended
		}
	}
}

func (r *records) record(one row, before *Record) *Record {
	rec := &Record{Name: one.site, id: one.schema, Place: r.place(one.schema)}
	rec.Config, rec.Broken = r.configOf(one.schema, one.config)
	if rec.Broken != nil {
		r.c.Logger.Error("read the configuration of a site", "site", one.site, "error", rec.Broken)
		if rec.Config = (&site.Config{}); before != nil {
			rec.Config = before.Config
		}
	}
	return rec
}

// configOf opens a configuration as it is stored.
func (r *records) configOf(schema, sealed string) (*site.Config, error) {
	if sealed == "" {
		return &site.Config{}, nil
	}
	text, err := r.c.Master.OpenConfig(schema, sealed)
	if err != nil {
		return nil, err
	}
	return ParseConfig(text)
}

// seal makes what is stored of a configuration, if it may be.
func (r *records) seal(schema string, c *site.Config) (string, error) {
	if err := checkConfig(c); err != nil {
		return "", err
	}
	text, err := c.MarshalJSON()
	if err != nil {
		return "", err
	}
	return r.c.Master.SealConfig(schema, text), nil
}

func (r *records) place(schema string) Place {
	return Place{Folder: folderOf(schema), Database: r.c.Database, Schema: schema}
}

// Enter implements Registry. The folder is made when the site is first used on
// this machine.
func (r *records) Enter(ctx context.Context, rec *Record) error {
	db, err := r.open(ctx)
	if err != nil {
		return err
	}
	rows, err := r.read(ctx, db, is("name", rec.id))
	if err != nil {
		return err
	}
	if len(rows) == 0 || rows[0].state != live {
		return missing(rec.Name)
	}
	return os.MkdirAll(r.c.Layout.SitePlugins(rec.Folder), 0o700)
}

// Left implements Registry: what this machine has of a site that is erased goes,
// too, as soon as the site cannot be put back any more.
func (r *records) Left(ctx context.Context, rec *Record) {
	r.mu.Lock()
	r.left[rec.id] = rec.Folder
	r.mu.Unlock()
	db, err := r.open(ctx)
	if err != nil {
		return // at the next look
	}
	r.clearLeft(ctx, db)
}

// clearLeft removes the folders of the sites that were found gone and are erased,
// and goes on remembering those of the ones that can be put back.
func (r *records) clearLeft(ctx context.Context, db *store.Store) {
	r.mu.Lock()
	ids := make([]any, 0, len(r.left))
	for id := range r.left {
		ids = append(ids, id)
	}
	r.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	rows, err := r.read(ctx, db, doctype.Compare{Operand: operand("name"), Op: query.In, Value: ids})
	if err != nil {
		r.c.Logger.Error("see what became of sites that are gone", "error", err)
		return // at the next look that finds a change
	}
	for _, one := range rows {
		if one.state == leaving || one.state == dropped { // and may be erased yet
			continue
		}
		r.mu.Lock()
		folder := r.left[one.schema]
		delete(r.left, one.schema)
		r.mu.Unlock()
		if folder == "" || one.state != erasing && one.state != erased {
			continue
		}
		if err := os.RemoveAll(r.c.Layout.Site(folder)); err != nil {
			r.c.Logger.Error("remove the folder of a site that was erased", "site", one.site, "error", err)
		}
	}
}

// Ping implements Registry.
func (r *records) Ping(ctx context.Context) error {
	db, err := r.open(ctx)
	if err != nil {
		return err
	}
	return db.Ping(ctx)
}

// Close implements Registry.
func (r *records) Close() error {
	if db := r.db.Load(); db != nil {
		return db.Close()
	}
	return nil
}
