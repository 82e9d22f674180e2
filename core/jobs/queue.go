package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/query"
	"armature/core/scope"
)

// Pump runs what sites have to do. *pump.Pump satisfies it.
type Pump interface {
	// Mark notes, durably and before the transaction that asks is committed, that a site
	// will have something to do: a process that starts looks at such sites alone. It is
	// cheap where the site was marked lately.
	Mark(ctx context.Context, site string) error
	// Wake has the site looked at now: something was committed.
	Wake(site string)
}

// Clock is what a site does by the clock. *schedule.Service satisfies it.
type Clock interface {
	// Fire makes jobs of what is due.
	Fire(ctx context.Context) error
	// Next is when something is due next, maybe some time ago; zero: never.
	Next(ctx context.Context) (time.Time, error)
}

// Config is what a Queue needs of a site.
type Config struct {
	Site  string // its name
	Store document.Store
	Pump  Pump // nil: what is kept here runs in another process
	Now   func() time.Time

	// Methods runs methods with the site's configuration of now.
	Methods func() *method.Service
	// Caller is a user as of now; an Authentication fault for one who may not act any
	// more.
	Caller func(ctx context.Context, user string) (*identity.Caller, error)
	// Outgoing is an error while nothing may leave the site: then its jobs wait too.
	Outgoing func() error
	// Clock makes jobs of what is due by the clock; nil: nothing is.
	Clock Clock
	// Tasks are what the platform itself does in jobs, by their paths, which begin with an
	// at sign.
	Tasks map[string]Task
	// Most is how many jobs may wait; 0: any number.
	Most func() int64

	Logger *slog.Logger
}

// Queue is the jobs of one open site. It may be used concurrently.
type Queue struct {
	c Config

	mu      sync.Mutex
	last    int64 // the latest due that was given out: jobs run in the order in which they were asked for
	counted int64 // jobs that wait, as counted at
	at      time.Time
}

// New makes the queue of a site.
func New(c Config) *Queue {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Queue{c: c}
}

// The limits of a job.
const (
	MaxArgs     = 64 << 10 // bytes of its arguments
	MaxUnique   = 140      // bytes of its key
	MaxAttempts = 25
	attempts    = 8 // unless it says otherwise: the last one 1 h 20 min after the first
)

// Enqueue implements method.Later.
func (q *Queue) Enqueue(ctx context.Context, tx document.Tx, d method.Deferred) (id string, err error) {
	if err := check(&d); err != nil {
		return "", err
	}
	key := uniqueKey(&d)
	if key != "" {
		if id, err := q.holder(ctx, tx, key); err != nil || id != "" {
			return id, err
		}
	}
	if err := q.admit(ctx, tx); err != nil {
		return "", err
	}
	if err := q.Expect(ctx, tx); err != nil {
		return "", err
	}
	doc, err := q.row(&d, key)
	if err != nil {
		return "", err
	}
	if err := q.enterLane(ctx, tx, doc, d.Lane); err != nil {
		return "", err
	}
	id, err = doc.Name(), q.insert(ctx, tx, doc, key != "")
	if key != "" && fault.KindOf(err) == fault.Conflict {
		if id, err = q.holder(ctx, tx, key); err == nil && id == "" { // it has ended meanwhile
			err = fault.New(fault.Unavailable, "", "The job with the key %s has just ended; try again", d.Unique)
		}
		return id, err
	}
	return id, err
}

// Expect has the site looked at once tx is committed, which has brought something that
// is to be done.
func (q *Queue) Expect(ctx context.Context, tx document.Tx) error {
	if q.c.Pump == nil {
		return nil
	}
	if err := q.c.Pump.Mark(ctx, q.c.Site); err != nil {
		return fault.Wrap(fault.Unavailable, "", err, "Jobs cannot be kept now; try again later")
	}
	tx.AfterCommit(func() { q.c.Pump.Wake(q.c.Site) })
	return nil
}

// insert stores a row; one whose key may be taken in a savepoint, so that the
// transaction can go on.
func (q *Queue) insert(ctx context.Context, tx document.Tx, doc *doctype.Document, keyed bool) error {
	if !keyed {
		return tx.Insert(ctx, doc)
	}
	return tx.Savepoint(ctx, func() error { return tx.Insert(ctx, doc) })
}

func check(d *method.Deferred) error {
	switch {
	case len(d.Args) > MaxArgs:
		return fault.Invalid("", "The arguments of a job have at most %d bytes, not %d: keep them in a document", MaxArgs, len(d.Args))
	case len(d.Unique) > MaxUnique:
		return fault.Invalid("", "The key of a job has at most %d bytes", MaxUnique)
	case d.Attempts < 0 || d.Attempts > MaxAttempts:
		return fault.Invalid("", "A job is tried 1 to %d times, not %d", MaxAttempts, d.Attempts)
	}
	args, err := method.ArgsJSON(d.Args)
	if err != nil {
		return err
	}
	d.Args, err = args.JSON()
	return err
}

// uniqueKey is the key of a job among those of all plugins.
func uniqueKey(d *method.Deferred) string {
	if d.Unique == "" {
		return ""
	}
	plugin := ""
	if d.Caller.Frame != nil {
		plugin = d.Caller.Frame.Plugin()
	}
	return plugin + ":" + d.Unique
}

// holder is the job that has a key; empty: none does.
func (q *Queue) holder(ctx context.Context, tx document.Tx, key string) (id string, err error) {
	sel := &doctype.Select{
		DocType: Table(), Columns: columns("name"), Length: 1,
		Where: doctype.Compare{Operand: operand("unique_key"), Op: query.Eq, Value: key},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		id, _ = v[0].(string)
		return nil
	})
	return id, err
}

// row is the row of a new job.
func (q *Queue) row(d *method.Deferred, key string) (*doctype.Document, error) {
	scopes, frame, err := keep(d.Caller)
	if err != nil {
		return nil, err
	}
	now := q.c.Now()
	doc := doctype.NewDocument(Table())
	stamp := doctype.FormatDatetime(now)
	due, asked := q.next(d.At, now), now.UnixMicro()
	if !d.At.After(now) {
		asked = due // those of a lane are told apart
	}
	most := int64(d.Attempts)
	if most == 0 {
		most = attempts
	}
	for field, value := range map[string]any{
		"name": strings.ToLower(rand.Text()), "creation": stamp, "modified": stamp, "owner": d.Caller.User, "modified_by": d.Caller.User,
		"method": d.Path, "args": string(d.Args), "user": d.Caller.User, "scopes": scopes, "frame": frame,
		"state": string(Waiting), "due": due, "turn": int64(0), "attempts": int64(0), "most": most, "step": int64(0),
		"enqueued": asked, "changed": now.UnixMicro(),
	} {
		doc.Put(field, value)
	}
	if key != "" {
		doc.Put("unique_key", key)
	}
	return doc, nil
}

// next is when a job is due that may run at a time, or now: after those that were asked
// for before it.
func (q *Queue) next(at, now time.Time) int64 {
	if at.After(now) {
		return min(at.UnixMicro(), parked-1)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = max(now.UnixMicro(), q.last+1)
	return q.last
}

// keep is what narrows a caller, as text.
func keep(c *identity.Caller) (scopes, frame string, err error) {
	if c.Scopes != nil {
		kept := make([]scope.Kept, len(c.Scopes))
		for i, s := range c.Scopes {
			kept[i] = s.Keep()
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return "", "", err
		}
		scopes = string(text)
	}
	if c.Frame != nil {
		text, err := json.Marshal(c.Frame.Keep())
		if err != nil {
			return "", "", err
		}
		frame = string(text)
	}
	return scopes, frame, nil
}

func columns(names ...string) []doctype.Column {
	cols := make([]doctype.Column, len(names))
	for i, name := range names {
		cols[i] = doctype.Column{Operand: operand(name), Key: name}
	}
	return cols
}

func operand(field string) doctype.Operand { return doctype.Operand{Field: Table().Field(field)} }
