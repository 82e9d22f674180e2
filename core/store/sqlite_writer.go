package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
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

// openWriterPatiently waits for other processes that open or close the file at
// the same moment: a change of the journal's mode does not wait by itself.
func openWriterPatiently(ctx context.Context, path string, o Options) (w *writer, err error) {
	for begun := time.Now(); ; {
		w, err = openWriter(ctx, path, o)
		if (*sqliteBackend)(nil).diagnose(err).class != busy || time.Since(begun) > o.WriteWait {
			return w, err
		}
		select {
		case <-time.After(jitter(10 * time.Millisecond)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func openWriter(ctx context.Context, path string, o Options) (*writer, error) {
	sync := "synchronous(FULL)"
	if o.Durability == Crash {
		sync = "synchronous(NORMAL)"
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, min(readWait, o.WriteWait), "journal_mode(WAL)", sync, "cache_size(-2000)", "journal_size_limit(67108864)"))
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
		err = errBusy()
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
func (w *writer) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	if !st.cancellable() {
		ctx = context.Background()
	}
	if st.fleeting {
		rows, err := w.conn.QueryContext(ctx, st.text, args...)
		return scan(rows, err, len(st.cells), fn)
	}
	return w.texts.query(ctx, st, args, fn)
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
