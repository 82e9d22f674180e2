package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// kind is how a tx comes by its connection.
type kind uint8

const (
	viewing kind = iota // reads only, each statement by itself
	single              // the same, and one write by itself
	whole               // everything in one transaction
)

// tx satisfies document.Tx.
type tx struct {
	s    *Store
	kind kind
	conn conn        // nil: a whole transaction that has not begun
	own  transaction // the transaction this tx began and must end

	replica *replicaRead // viewing: where; nil: on the primary

	race   *race   // of the Write that this is an attempt of; nil: only reads
	moment bool    // viewing: all statements in one transaction
	glance bool    // viewing: there will be one, which needs none
	asked  int     // viewing: statements
	unset  []marks // savepoints to set when the transaction begins

	at        claim   // what the latest statement is about
	touched   []claim // what was locked or changed
	predicate bool    // lost over what it had only read
	checked   bool    // what is read now is checked by the write that follows
	bumped    bool    // the DocTypes have changed
	drawn     bool    // a name was taken that may have been drawn
	looked    bool    // something was read, which may be why it wrote

	party string        // who waits for the turn; empty: it runs no guests
	held  document.Hold // of a whole transaction that has begun
	begun func(*document.Hold)

	wrote   bool  // single: the write is spent
	reading bool  // rows are being handed out
	failed  error // whole: a statement failed, the rest is lost
	why     class // of failed
	depth   int   // of savepoints
	after   []func()
	changes []document.Change // to be logged, if anybody follows them
	tells   bool              // it changed what other processes look for: they are to look now
	aside   document.SideEffects
	trial   document.Trial // of what Read runs
}

var _ document.Tx = (*tx)(nil)

// Write implements document.Store.
func (s *Store) Write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	if r := document.RehearsalOf(ctx); r != nil {
		return s.write(ctx, document.PluginTx, func(tx document.Tx) error { return r.Run(ctx, tx, fn) })
	}
	if a := document.AgreementOf(ctx); a != nil {
		return s.write(ctx, document.PluginTx, func(tx document.Tx) error { return a.Run(tx, fn) })
	}
	return s.write(ctx, mode, fn)
}

func (s *Store) write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	run := s.runAlone
	s.askFollowed(ctx)
	if mode == document.OneWrite && s.followed.now() {
		mode = document.GroupedTx // what it changes is logged along with it
	}
	switch mode {
	case document.GroupedTx:
		if !s.engine.races { // who races begins late, with what it is about
			run = s.runBrief
		}
	case document.OneWrite:
		run = s.runSingle
	}
	var t *tx
	r := s.newRace()
	err := s.retry(ctx, r.deadline, &r.trial, func() (class, error) {
		r.numbers.again()
		t = &tx{s: s, kind: whole, race: r}
		t.aside.Begin(&r.trial)
		defer r.end(t)
		if mode == document.PluginTx {
			t.party = document.PartyOf(ctx)
		}
		err := run(ctx, t, fn)
		switch {
		case t.why == duplicate && t.drawn:
			return redrawn, err
		case t.why == duplicate && t.looked && s.engine.races:
			return raced, err
		}
		return t.why, err
	})
	if len(r.numbers.taken) > 0 {
		defer func() { r.numbers.giveBack(context.WithoutCancel(ctx), s, err == nil) }()
	}
	if mode == document.OneWrite && errors.Is(err, document.ErrLost) {
		return s.write(ctx, document.GroupedTx, fn)
	}
	t.aside.End()
	if errors.Is(err, document.ErrRollback) {
		return nil
	}
	if err == nil || t.kind == single && t.wrote {
		for _, f := range t.after {
			f()
		}
		if t.tells {
			s.tellChanges()
		}
	}
	return err
}

// runAlone gives fn a transaction of its own, from its first call on.
func (s *Store) runAlone(ctx context.Context, t *tx, fn func(document.Tx) error) error {
	defer func() {
		if t.own != nil { // fn failed, panicked, or left its goroutine
			t.own.rollback()
		}
	}()
	if err := t.run(ctx, fn); err != nil || t.own == nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	err := t.own.commit(ctx)
	t.own = nil
	return s.explainCommit(t, err)
}

// runBrief runs fn in a transaction that may be shared.
func (s *Store) runBrief(ctx context.Context, t *tx, fn func(document.Tx) error) error {
	var inner error
	err := s.backend.brief(ctx, func(c conn) error {
		t.conn = c
		inner = t.run(ctx, fn)
		return inner
	})
	if inner != nil {
		return inner
	}
	return s.explainCommit(t, err)
}

// runSingle gives fn no transaction: its one write brings its own.
func (s *Store) runSingle(ctx context.Context, t *tx, fn func(document.Tx) error) error {
	t.kind, t.conn = single, s.backend.reader()
	return s.runAlone(ctx, t, func(document.Tx) error {
		err := fn(t)
		if t.kind == single {
			t.why = other // the write was retried by itself, fn is not
		}
		return err
	})
}

// join makes a OneWrite function a transaction where it reads what its write does
// not check: what it has read must hold when it writes. The document that it read
// to change is checked by the write itself.
func (t *tx) join() {
	if t.kind == single && !t.wrote {
		t.kind, t.conn = whole, nil
	}
}

// run calls fn, does not let it ignore a failed statement, and logs what it changed.
func (t *tx) run(ctx context.Context, fn func(document.Tx) error) error {
	if err := fn(t); err != nil {
		return err
	}
	if t.failed != nil {
		return t.failed
	}
	return t.logChanges(ctx)
}

func (s *Store) explainCommit(t *tx, err error) error {
	var unknown unknownOutcome
	if errors.As(err, &unknown) {
		return fault.Wrap(fault.Unavailable, "", err,
			"The database was lost while saving; whether the change was stored is not known")
	}
	if err != nil {
		t.diagnose(err)
	}
	return s.explain(err, nil, "")
}

// ready is what every method of the tx calls first: it begins the transaction.
func (t *tx) ready(ctx context.Context, at claim) error {
	t.at = at
	switch {
	case t.reading:
		return errors.New("store: the Tx is used while its rows are read")
	case t.failed != nil:
		return t.failed // lost on one of the databases, so lost on both
	case t.glance && t.asked > 0:
		t.asked++
		t.why, t.failed = another, errBusy()
		return t.failed
	case t.glance:
		t.conn = t.s.backend.reader()
	}
	t.asked++
	if t.conn != nil {
		return nil
	}
	own, err := t.begin(ctx, at)
	if err != nil {
		return t.fail(err, nil, "")
	}
	t.own, t.conn = own, own
	if t.held.Since = time.Now(); t.begun != nil {
		t.begun(&t.held)
	}
	for _, mark := range t.unset {
		if err := t.control(ctx, mark.set); err != nil {
			return err
		}
	}
	t.unset = nil
	return nil
}

func (t *tx) begin(ctx context.Context, at claim) (transaction, error) {
	if t.replica != nil {
		return t.replica.begin(ctx)
	}
	if t.moment {
		return t.s.backend.begin(ctx, terms{reads: true})
	}
	return t.race.begin(ctx, at, t.party)
}

// OnBegin implements document.Tx.
func (t *tx) OnBegin(party string, fn func(*document.Hold)) {
	if t.kind != whole || t.conn != nil && t.own == nil {
		return // it keeps nobody
	}
	if t.party != "" {
		t.party = party
	}
	if t.begun = fn; t.own != nil && fn != nil {
		fn(&t.held)
	}
}

// fail explains an error of a statement and remembers it where it ends the
// transaction.
func (t *tx) fail(err error, dt *doctype.DocType, name string) error {
	if err == nil {
		return nil
	}
	explained := t.s.explain(err, dt, name)
	t.diagnose(err)
	if t.kind == whole || t.moment {
		t.failed = explained
	}
	return explained
}

// diagnose remembers what an error means for the transaction. A lock that it
// waited for in vain is a lost race where there are any.
func (t *tx) diagnose(err error) {
	d := t.s.diagnose(err)
	if t.s.engine.races && d.class == busy && t.own != nil {
		d.class = again
	}
	t.why, t.predicate = d.class, d.class == again && d.what == overRead
}

// write runs fn where it may write. many says that fn runs several statements,
// which belong together. An error is explained with the document it is about.
func (t *tx) write(ctx context.Context, dt *doctype.DocType, name string, many bool, fn func(conn) error) error {
	if t.kind == viewing {
		return document.ErrReadOnly
	}
	if err := t.ready(ctx, claimOf(dt, name)); err != nil {
		return err
	}
	if t.kind == whole {
		t.touch(dt, name)
		return t.fail(fn(t.conn), dt, name)
	}
	if t.wrote {
		return errTwice
	}
	t.wrote = true
	err := t.s.retry(ctx, t.race.deadline, nil, func() (class, error) {
		err := t.s.backend.once(ctx, many, fn)
		why := t.s.diagnose(err).class
		if why == lost {
			why = other // by itself a statement may have been done
		}
		return why, err
	})
	var unknown unknownOutcome
	if errors.As(err, &unknown) {
		return t.s.explainCommit(t, err)
	}
	t.wrote = err == nil
	return t.fail(err, dt, name)
}

// read runs a statement that returns rows; name is that of the document it reads,
// if it reads one.
func (t *tx) read(ctx context.Context, st *statement, name string, args []any, fn func([]any) error) error {
	if !t.checked {
		t.join()
	}
	if err := t.ready(ctx, claimOf(st.dt, name)); err != nil {
		return err
	}
	t.looked = true
	var mine error // what fn says is not the database's failure
	t.reading = true
	err := t.s.query(ctx, t.conn, st, args, func(values []any) error {
		mine = fn(values)
		return mine
	})
	t.reading = false
	if mine != nil {
		return mine
	}
	return t.fail(err, st.dt, "")
}

// Savepoint implements document.Tx. Outside a whole transaction there is
// nothing to go back to: the one write of Single is undone only by failing.
// After a lost race there is neither: the transaction is run again, whatever fn
// makes of the error.
func (t *tx) Savepoint(ctx context.Context, fn func() error) error {
	if t.kind != whole {
		return fn()
	}
	if t.failed != nil {
		return t.failed
	}
	mark := savepointAt(t.depth)
	t.depth++
	defer func() { t.depth-- }()
	after, changes := len(t.after), len(t.changes)
	if t.conn == nil {
		t.unset = append(t.unset, mark)
	} else if err := t.control(ctx, mark.set); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = t.failed
	}
	if t.conn == nil { // nothing has begun
		t.unset = t.unset[:len(t.unset)-1]
		if err != nil {
			t.after, t.changes = t.after[:after], t.changes[:changes]
		}
		return err
	}
	if err == nil {
		return t.control(ctx, mark.release)
	}
	if t.why == lost || t.why == again {
		return err
	}
	t.after, t.changes = t.after[:after], t.changes[:changes]
	why := t.why
	t.failed, t.why = nil, other
	for _, st := range []*statement{mark.undo, mark.release} {
		if undo := t.control(context.WithoutCancel(ctx), st); undo != nil {
			return errors.Join(err, undo)
		}
	}
	t.why = why // who ends with this error may have lost a race
	return err
}

// control runs a statement of transaction control.
func (t *tx) control(ctx context.Context, st *statement) error {
	_, err := t.s.exec(ctx, t.conn, st, nil)
	return t.fail(err, nil, "")
}

// marks are the statements of one savepoint.
type marks struct{ set, undo, release *statement }

func newMarks(depth int) marks {
	name := fmt.Sprintf("SAVEPOINT armature_%d", depth)
	return marks{&statement{text: name}, &statement{text: "ROLLBACK TO " + name}, &statement{text: "RELEASE " + name}}
}

// savepoints are those of the first depths: every write of a guest has one.
var savepoints = [...]marks{newMarks(0), newMarks(1), newMarks(2), newMarks(3)}

func savepointAt(depth int) marks {
	if depth < len(savepoints) {
		return savepoints[depth]
	}
	return newMarks(depth)
}

// SideEffects implements document.Tx.
func (t *tx) SideEffects() *document.SideEffects { return &t.aside }

// AfterCommit implements document.Tx.
func (t *tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }
