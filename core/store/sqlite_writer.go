package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"armature/core/fault"
)

// Bounds of one group: no write waits much longer than the disk takes for
// those who came before it.
const (
	maxGroup  = 128
	groupTime = 5 * time.Millisecond
)

// writer is the one connection that writes. Whoever finds it free leads: it
// runs its own job and those that queued up meanwhile in one transaction, each
// in a savepoint, commits once and answers all. Then the next in the queue
// leads. So a lone write changes no goroutine, and sixteen share one sync of
// the disk.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	texts *statements
	wait  time.Duration

	mu    sync.Mutex
	taken bool
	queue []*job

	writes uint64 // groups and transactions committed; by whoever has the writer
}

// job is a function waiting for the writer. fn nil: it wants the writer itself.
type job struct {
	ctx       context.Context
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

func (p *jobPanic) String() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

func openWriter(ctx context.Context, path string, o Options) (*writer, error) {
	sync := "synchronous(FULL)"
	if o.Durability == Crash {
		sync = "synchronous(NORMAL)"
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, "journal_mode(WAL)", sync, "cache_size(-2000)", "journal_size_limit(67108864)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{db: db, conn: c, texts: newStatements(c, maxPrepared), wait: o.WriteWait}, nil
}

func (w *writer) close() error {
	w.texts.close()
	return errors.Join(w.conn.Close(), w.db.Close())
}

// acquire waits until the job leads, or is done because another led.
func (w *writer) acquire(j *job) error {
	w.mu.Lock()
	if !w.taken {
		w.taken = true
		w.mu.Unlock()
		return nil
	}
	j.turn = make(chan struct{})
	w.queue = append(w.queue, j)
	w.mu.Unlock()

	patience := time.NewTimer(w.wait)
	defer patience.Stop()
	var err error
	select {
	case <-j.turn:
		return nil
	case <-j.ctx.Done():
		err = j.ctx.Err()
	case <-patience.C:
		err = fault.New(fault.Unavailable, "", "The database is busy with other writes; try again")
	}
	if w.leave(j) {
		return err
	}
	<-j.turn // its turn has come; it cannot be given back
	return nil
}

// leave takes a job out of the queue, unless somebody has taken it out.
func (w *writer) leave(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, queued := range w.queue {
		if queued == j {
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			return true
		}
	}
	return false
}

// next takes the first job that can share the leader's transaction. One that
// wants the writer for itself ends the group.
func (w *writer) next() *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.queue[0].fn == nil {
		return nil
	}
	j := w.queue[0]
	w.queue = w.queue[1:]
	return j
}

// release hands the writer to the first in the queue.
func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.taken = false
		return
	}
	j := w.queue[0]
	w.queue = w.queue[1:]
	close(j.turn)
}

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
	defer w.release()
	defer g.end()
	if g.err = w.control("BEGIN IMMEDIATE"); g.err != nil {
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
	j.err, j.panic = g.call(j)
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

func (g *batch) call(j *job) (err error, p *jobPanic) {
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
	return err, nil
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

// fatal reports whether SQLite has, or may have, rolled back the whole
// transaction with the statement that failed.
func fatal(err error) bool {
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

// begin takes the writer until the transaction ends.
func (w *writer) begin(ctx context.Context) (transaction, error) {
	if err := w.acquire(&job{ctx: ctx}); err != nil {
		return nil, err
	}
	if err := w.control("BEGIN IMMEDIATE"); err != nil {
		w.release()
		return nil, err
	}
	return &aloneTx{w}, nil
}

// aloneTx is a transaction that has the writer for itself.
type aloneTx struct{ *writer }

func (t *aloneTx) commit(context.Context) error {
	defer t.release()
	err := t.control("COMMIT")
	if err != nil {
		t.abandon()
		return err
	}
	t.writes++
	return nil
}

func (t *aloneTx) rollback() {
	defer t.release()
	t.abandon()
}

// control runs a statement of transaction control.
func (w *writer) control(text string) error {
	p, err := w.texts.take(context.Background(), text)
	if err != nil {
		return err
	}
	defer p.release()
	_, err = p.stmt.ExecContext(context.Background())
	return err
}

// abandon rolls back; where SQLite has done so itself there is nothing to do.
func (w *writer) abandon() { _ = w.control("ROLLBACK") }

// query runs a statement for whoever has the writer.
func (w *writer) query(ctx context.Context, st *statement, args []any) (cursor, error) {
	if !st.cancellable() {
		ctx = context.Background()
	}
	if st.fleeting {
		rows, err := w.conn.QueryContext(ctx, st.text, args...)
		return cursor{rows: rows}, err
	}
	p, err := w.texts.take(ctx, st.text)
	if err != nil {
		return cursor{}, err
	}
	rows, err := p.stmt.QueryContext(ctx, args...)
	if err != nil {
		p.release()
		return cursor{}, err
	}
	return cursor{rows, p}, nil
}

// exec runs a statement for whoever has the writer. Nothing interrupts it: it
// is short, and an interrupted write may take the transaction with it.
func (w *writer) exec(_ context.Context, st *statement, args []any) (int64, error) {
	ctx := context.Background()
	if st.fleeting {
		return affected(w.conn.ExecContext(ctx, st.text, args...))
	}
	p, err := w.texts.take(ctx, st.text)
	if err != nil {
		return 0, err
	}
	defer p.release()
	return affected(p.stmt.ExecContext(ctx, args...))
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
