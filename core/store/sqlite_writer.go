package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// writer is the one connection that writes. Whoever finds it free leads: it
// runs its own job and those that queued up meanwhile in one transaction, each
// in a savepoint, commits once and answers all. Then the next in the queue
// leads. So a lone write changes no goroutine, and sixteen share one sync of
// the disk.
type writer struct {
	db    *sqlitePool
	conn  *sql.Conn
	texts *statements
	*admission

	lost   error  // an interrupted write has ended the transaction under way; nil: none has
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
	db, err := openSQLitePool(sqliteDSN(path, min(readWait, o.WriteWait), "journal_mode(WAL)", sync, "cache_size(-2000)", "journal_size_limit(67108864)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{db: db, conn: c, texts: newStatements(c, maxPrepared), admission: newAdmission(1, o.WriteWait)}, nil
}

func (w *writer) close() error {
	w.admission.close()
	w.texts.close()
	return errors.Join(w.conn.Close(), w.db.Close())
}

// next takes the first job that can share the leader's transaction. One that
// wants the writer for itself ends the group.
func (w *writer) next() *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first.count == 0 || w.first.peek().fn == nil {
		return nil
	}
	return w.first.pop()
}

// begin takes the writer for a party until the transaction ends.
func (w *writer) begin(ctx context.Context, party string) (transaction, error) {
	if err := w.turnFor(ctx, party, 0); err != nil {
		return nil, err
	}
	if err := w.start(); err != nil {
		w.release(party)
		return nil, err
	}
	return &aloneTx{w, party}, nil
}

// aloneTx is a transaction that has the writer for itself.
type aloneTx struct {
	*writer
	party string
}

func (t *aloneTx) commit(context.Context) error {
	defer t.release(t.party)
	err := t.control("COMMIT")
	if err != nil {
		t.abandon()
		return err
	}
	t.writes++
	return nil
}

func (t *aloneTx) rollback() {
	defer t.release(t.party)
	t.abandon()
}

// start begins a transaction.
func (w *writer) start() error {
	w.lost = nil
	return w.control("BEGIN IMMEDIATE")
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
	return st.watched(ctx, statementTime, func(ctx context.Context) error {
		if st.fleeting {
			rows, err := w.conn.QueryContext(ctx, st.text, args...)
			return scan(rows, err, st, fn)
		}
		return w.texts.query(ctx, st, args, fn)
	})
}

// exec runs a statement for whoever has the writer. One that is about a document is
// short and nothing interrupts it; one that may go through a whole table is
// interrupted when nobody waits for it, and takes the transaction with it.
func (w *writer) exec(ctx context.Context, st *statement, args []any) (int64, error) {
	if w.lost != nil {
		return 0, w.lost // outside a transaction it would be kept
	}
	if st.fleeting {
		n, err := affected(w.conn.ExecContext(ctx, st.text, args...))
		if err != nil && ctx.Err() != nil {
			w.lost = interrupted{err}
			return 0, w.lost
		}
		return n, err
	}
	ctx = context.Background()
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
