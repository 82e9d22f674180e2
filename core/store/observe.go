package store

import (
	"context"
	"log/slog"
	"time"
)

// Observer sees a statement after it ran: its text, its arguments and how long
// it took until its rows were read. The arguments are only valid during the
// call, and may hold secrets.
type Observer func(sql string, args []any, d time.Duration)

type observerKey struct{}

// WithObserver returns a context whose statements fn sees. It is called by the
// goroutine that runs the statement, which for a grouped write may be another's.
func WithObserver(ctx context.Context, fn Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, fn)
}

// watch times one statement.
type watch struct {
	s     *Store
	st    *statement
	start time.Time
	fn    Observer
}

func (s *Store) watch(ctx context.Context, st *statement) watch {
	w := watch{s: s, st: st}
	w.fn, _ = ctx.Value(observerKey{}).(Observer)
	if w.fn != nil || s.slow > 0 || st.list {
		w.start = time.Now()
	}
	return w
}

func (w *watch) done(args []any) {
	if w.start.IsZero() {
		return
	}
	d := time.Since(w.start)
	if w.st.list {
		w.st.note(d)
	}
	if w.s.slow > 0 && d >= w.s.slow {
		// Without arguments: a log is read by more people than a database.
		w.s.log.Warn("slow statement", slog.String("sql", w.st.text), slog.Duration("took", d))
	}
	if w.fn != nil {
		w.fn(w.st.text, args, d)
	}
}
