package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Bounds of one group: no write waits much longer than the disk takes for
// those who came before it.
const (
	maxGroup  = 128
	groupTime = 5 * time.Millisecond
)

// job is a function waiting for the writer. fn nil: it wants the writer itself.
type job struct {
	ctx       context.Context
	party     string        // whose guests run in the transaction; empty: none do
	site      string        // whose turn it takes where several sites share them
	wait      time.Duration // for the turn; 0: as long as the line says
	fn        func(conn) error
	savepoint bool // fn runs several statements, which belong together

	turn  chan struct{} // closed: the job leads, or is done
	done  bool
	err   error
	panic *jobPanic
}

// jobPanic carries a panic from the goroutine that led to the one whose
// function it was.
type jobPanic struct {
	value any
	stack []byte
}

// Error is what the runtime prints.
func (p *jobPanic) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Unwrap lets who recovers find an error that was panicked with.
func (p *jobPanic) Unwrap() error { err, _ := p.value.(error); return err }

// group runs a job, alone or with others.
func (w *writer) group(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.acquire(j); err != nil {
		return err
	}
	if !j.done {
		w.lead(j)
	}
	if j.panic != nil {
		panic(j.panic)
	}
	return j.err
}

// lead runs a group. It hands the writer on whatever happens: a function may
// leave its goroutine (runtime.Goexit), which no recover sees.
func (w *writer) lead(own *job) {
	g := &batch{w: w, leader: own}
	defer w.release("")
	defer g.end()
	if g.err = w.start(); g.err != nil {
		own.err = g.err
		return
	}
	g.begun = time.Now()
	g.run(own)
	for g.err == nil && len(g.jobs) < maxGroup && time.Since(g.begun) < groupTime {
		j := w.next()
		if j == nil {
			break
		}
		g.run(j)
	}
	g.complete = true
}

// batch is one shared transaction.
type batch struct {
	w        *writer
	leader   *job
	begun    time.Time
	jobs     []*job // ran and succeeded: their fate is the commit's
	current  *job   // running
	err      error  // ends the group: the transaction is lost
	complete bool
}

// run runs one job. A failed one is undone and answered at once.
func (g *batch) run(j *job) {
	g.current = j
	if j.err = j.ctx.Err(); j.err != nil {
		g.answer(j)
		return
	}
	if j.savepoint {
		if g.err = g.w.control("SAVEPOINT job"); g.err != nil {
			j.err = g.err
			g.answer(j)
			return
		}
	}
	j.panic, j.err = g.call(j)
	if fatal(j.err) {
		g.err = j.err
	}
	if j.savepoint && g.err == nil {
		g.err = g.closeSavepoint(j.err != nil)
	}
	if j.err != nil {
		g.answer(j)
		return
	}
	g.jobs = append(g.jobs, j)
	g.current = nil
}

func (g *batch) call(j *job) (p *jobPanic, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			p = &jobPanic{v, debug.Stack()}
			err = errors.New("store: the function panicked")
		}
	}()
	err = j.fn(g.w)
	returned = true
	return nil, err
}

func (g *batch) closeSavepoint(undo bool) error {
	if undo {
		if err := g.w.control("ROLLBACK TO SAVEPOINT job"); err != nil {
			return err
		}
	}
	return g.w.control("RELEASE SAVEPOINT job")
}

// end commits and answers.
func (g *batch) end() {
	if g.begun.IsZero() {
		g.leader.done = true
		return
	}
	err := g.err
	switch {
	case !g.complete: // a function left its goroutine
		err = errors.New("store: the leader of the group left")
		g.w.abandon()
		if j := g.current; j != nil {
			j.err = errors.New("store: the function left its goroutine")
			g.answer(j)
		}
	case err != nil:
		g.w.abandon()
	case len(g.jobs) == 0:
		g.w.abandon()
	default:
		if err = g.w.control("COMMIT"); err != nil {
			g.w.abandon()
		} else {
			g.w.writes++
		}
	}
	if errors.As(err, new(interrupted)) {
		err = errTakenAlong // of those who were done before
	}
	for _, j := range g.jobs {
		j.err = err
		g.answer(j)
	}
}

// answer wakes who waits for a job. The leader waits for nobody.
func (g *batch) answer(j *job) {
	j.done = true
	g.current = nil
	if j != g.leader {
		close(j.turn)
	}
}

// interrupted is a write that was interrupted because nobody waits for it. SQLite may
// have rolled back the whole transaction.
type interrupted struct{ error }

func (e interrupted) Unwrap() error { return e.error }

// errTakenAlong answers those whose transaction ended with another's interrupted
// write: they are run again.
var errTakenAlong = errors.New("store: the transaction was shared with a write that was interrupted")

// fatal reports whether SQLite has, or may have, rolled back the whole
// transaction with the statement that failed.
func fatal(err error) bool {
	if errors.As(err, new(interrupted)) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}
