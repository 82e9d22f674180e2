package store

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"armature/core/doctype"
	"armature/core/document"
)

// The log of changes says which documents committed transactions have written, for
// those who follow them. A transaction logs what it writes in itself, and only while
// somebody follows: where nobody does it costs nothing.
//
// Whether somebody does is a row that every process knows, at most changesKnown old,
// when it commits: what is committed later than that after the row was written is
// logged, by whichever process.
const (
	changesKnown = time.Second
	askAgain     = 800 * time.Millisecond // before a write: its commit comes later
	maxLogged    = 500                    // changes of a DocType by one transaction; more are all of it
	maxRead      = 5000                   // changes that are read at a time
)

// changeLog is what the databases do differently.
type changeLog struct {
	tables []string // made where they are missing
	insert string   // of a JSON array of [doctype, name, for, data]; placeholders: time, array
	here   string   // the position now, as text
	newer  string   // a join with the changes after a position; placeholder: the position
	sweep  string   // what deletes the changes before a time, and answers a row or none
}

// sqliteChanges: one transaction writes at a time, so numbers are in the order of the
// commits, and one that was seen has none before it that is yet to come.
var sqliteChanges = changeLog{
	tables: []string{
		"CREATE TABLE IF NOT EXISTS armature_change (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, " +
			"doctype TEXT NOT NULL, name TEXT NOT NULL, recipient TEXT NOT NULL, data TEXT NOT NULL)",
	},
	insert: "INSERT INTO armature_change (at, doctype, name, recipient, data) " +
		"SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
	here:  "CAST(COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'armature_change'), 0) AS TEXT)",
	newer: "c.id > CAST(? AS INTEGER)",
	sweep: "DELETE FROM armature_change WHERE at < ? RETURNING id",
}

// postgresChanges: transactions run beside each other, and one that began early may
// commit late. A position is a snapshot, which says exactly which transactions had
// committed: what is new are the changes of all others that have by now. Whoever
// commits late with an early number is neither missed nor waited for.
var postgresChanges = changeLog{
	tables: []string{
		"CREATE TABLE IF NOT EXISTS armature_change (id bigserial PRIMARY KEY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), at bigint NOT NULL, " +
			"doctype text NOT NULL, name text NOT NULL, recipient text NOT NULL, data text NOT NULL)",
		"CREATE INDEX IF NOT EXISTS armature_change_xid ON armature_change (xid)",
	},
	insert: "INSERT INTO armature_change (at, doctype, name, recipient, data) " +
		"SELECT CAST(? AS bigint), value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_array_elements(CAST(? AS json))",
	here: "CAST(pg_current_snapshot() AS text)",
	newer: "c.xid >= pg_snapshot_xmin(CAST(CAST(? AS text) AS pg_snapshot)) " +
		"AND NOT pg_visible_in_snapshot(c.xid, CAST(CAST(? AS text) AS pg_snapshot))",
	sweep: "WITH gone AS (DELETE FROM armature_change WHERE at < ? RETURNING id) SELECT count(*) FROM gone",
}

// followedRow says until when somebody follows what is changed, and since when without
// a break, in milliseconds of Unix time.
type followedRow struct {
	bun.BaseModel `bun:"table:armature_followed"`

	ID    int64 `bun:"id,pk,type:bigint"`
	Since int64 `bun:"since,notnull,type:bigint"`
	Until int64 `bun:"until,notnull,type:bigint"`
}

const followedUntil = "COALESCE((SELECT until FROM armature_followed WHERE id = 1), 0)"

// followed is what a process knows of whether somebody follows.
type followed struct {
	until atomic.Int64 // Unix time in milliseconds
	asked atomic.Int64 // when that was asked, Unix time in nanoseconds by the process's own clock
	busy  atomic.Bool  // somebody asks

	mu    sync.Mutex
	tells map[int]func() // told after commits that others should look at
	next  int
}

// note takes over an answer to a question.
func (f *followed) note(until any, asked time.Time) {
	n, _ := until.(int64)
	f.until.Store(n)
	f.asked.Store(asked.UnixNano())
}

func (f *followed) age() time.Duration { return time.Duration(time.Now().UnixNano() - f.asked.Load()) }

// now reports whether somebody follows, or may.
func (f *followed) now() bool {
	age := f.age()
	return f.until.Load() > time.Now().UnixMilli() || age > changesKnown || age < 0
}

// tell tells those who look for changes that there are some.
func (f *followed) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fn := range f.tells {
		fn()
	}
}

// tellChanges tells those who look for changes, in all processes, that there are some.
func (s *Store) tellChanges() {
	s.followed.tell()
	if s.rope != nil && s.followed.until.Load() > time.Now().UnixMilli() {
		s.rope.tell(s.schema)
	}
}

// OnChange has fn called after changes were committed that somebody follows, or that
// concern every process: by this process, or by another one where there is a Bell. fn
// must not wait. Until cancel.
func (s *Store) OnChange(fn func()) (cancel func()) {
	f := &s.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tells == nil {
		f.tells = map[int]func(){}
	}
	f.next++
	id := f.next
	f.tells[id] = fn
	quiet := func() {}
	if s.rope != nil {
		quiet = s.rope.hear(s.schema, fn)
	}
	return func() {
		quiet()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.tells, id)
	}
}

// askFollowed brings what is known of followers up to date before a write. Where that
// fails the write finds out what is wrong, or logs for nobody.
func (s *Store) askFollowed(ctx context.Context) {
	if s.followed.age() < askAgain || !s.followed.busy.CompareAndSwap(false, true) {
		return
	}
	defer s.followed.busy.Store(false)
	asked := time.Now()
	_ = s.query(context.WithoutCancel(ctx), s.backend.reader(), s.own.versions, nil, func(row []any) error {
		s.followed.note(row[2], asked)
		return nil
	})
}

// changed notes a document that the transaction has written.
func (t *tx) changed(dt *doctype.DocType, name string) {
	if t.kind == whole && dt != nil {
		t.changes = append(t.changes, document.Change{DocType: dt.Name, Name: name})
	}
}

// Publish implements document.Tx.
func (t *tx) Publish(_ context.Context, m document.Change) error {
	if t.kind == viewing {
		return document.ErrReadOnly
	}
	t.join()
	m.DocType = ""
	t.changes = append(t.changes, m)
	return nil
}

// logChanges logs what the transaction has written, as the last thing it does.
func (t *tx) logChanges(ctx context.Context) error {
	if len(t.changes) == 0 || t.kind != whole || !t.s.followed.now() {
		return nil
	}
	text, err := json.Marshal(logged(t.changes))
	if err != nil {
		return err
	}
	t.tells = true
	return t.write(ctx, nil, "", false, func(c conn) error {
		_, err := t.s.exec(ctx, c, t.s.own.logChanges, []any{time.Now().UnixMilli(), string(text)})
		return err
	})
}

// logged are the rows of changes, each document once. Of a DocType of which there are
// many it says that anything of it may have changed.
func logged(changes []document.Change) [][4]string {
	of := map[string]int{}
	for _, c := range changes {
		of[c.DocType]++
	}
	rows := make([][4]string, 0, min(len(changes), maxLogged))
	seen := make(map[[2]string]bool, cap(rows))
	for _, c := range changes {
		if c.DocType == "" {
			rows = append(rows, [4]string{"", c.Name, c.For, string(c.Data)})
			continue
		}
		if of[c.DocType] > maxLogged {
			c.Name = ""
		}
		if key := [2]string{c.DocType, c.Name}; !seen[key] {
			seen[key] = true
			rows = append(rows, [4]string{c.DocType, c.Name, "", ""})
		}
	}
	return rows
}

// Follow says that somebody follows what is changed until a time, and returns where
// changes begin: those of transactions that were committed before everybody had heard
// of it may be missing for a second.
func (s *Store) Follow(ctx context.Context, until time.Time) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	now, end := time.Now(), until.UnixMilli()
	err := s.aside(ctx, s.own.follow, []any{now.UnixMilli(), end, now.UnixMilli(), end}, func(row []any) error {
		s.followed.note(row[0], now)
		return nil
	})
	return s.explain(err, nil, "")
}

// Changes returns what was committed since a position; none with the empty one, which
// is for who begins.
func (s *Store) Changes(ctx context.Context, after document.Position) (found document.Changes, err error) {
	if err := s.gate.enter(); err != nil {
		return found, err
	}
	defer s.gate.leave()
	st, args := s.own.changesHere, []any(nil)
	if after != "" {
		st = s.own.changesNewer
		args = make([]any, s.own.newerArgs)
		for i := range args {
			args[i] = string(after)
		}
	}
	asked := time.Now()
	err = s.query(ctx, s.backend.reader(), st, args, func(row []any) error {
		text, _ := row[0].(string)
		found.Position = document.Position(text)
		found.Versions.Schema, _ = row[1].(int64)
		found.Versions.Epoch, _ = row[2].(int64)
		found.Since, _ = row[3].(int64)
		s.followed.note(row[4], asked)
		if row[5] == nil {
			return nil // none
		}
		if len(found.List) == maxRead {
			found.TooMany = true
			return nil
		}
		c := document.Change{}
		c.DocType, _ = row[5].(string)
		c.Name, _ = row[6].(string)
		c.For, _ = row[7].(string)
		if data, _ := row[8].(string); data != "" {
			c.Data = []byte(data)
		}
		found.List = append(found.List, c)
		return nil
	})
	if err == nil && found.Position == "" {
		err = errors.New("store: the log of changes has no position")
	}
	if err == nil && after != "" && s.moment(found.Position) < s.moment(after) {
		err = document.ErrNoPosition // the database is an older one than it was
	}
	return found, s.explain(err, nil, "")
}

// ValidPosition reports whether a text that a client brought back may be a position:
// nothing else is asked of the database.
func (s *Store) ValidPosition(p document.Position) bool {
	if p == "" || len(p) > maxPosition {
		return false
	}
	for _, c := range p {
		if (c < '0' || c > '9') && (!s.engine.races || c != ':' && c != ',') {
			return false
		}
	}
	if !s.engine.races {
		return len(p) <= maxDigits
	}
	return validSnapshot(string(p))
}

// SweepChanges forgets what was logged before a time.
func (s *Store) SweepChanges(ctx context.Context, before time.Time) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	err := s.aside(ctx, s.own.sweepChanges, []any{before.UnixMilli()}, func([]any) error { return nil })
	return s.explain(err, nil, "")
}

// aside runs a writing statement that is no part of anybody's transaction. Where
// transactions race it is not serializable, so that nobody loses to it.
func (s *Store) aside(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	if s.engine.races {
		return s.query(ctx, s.backend.reader(), st, args, fn)
	}
	return s.backend.brief(ctx, func(c conn) error { return s.query(ctx, c, st, args, fn) })
}
