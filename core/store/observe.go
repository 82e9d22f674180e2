package store

import (
	"context"
	"log/slog"
	"strings"
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
	slow  time.Duration
	fn    Observer
}

func (s *Store) watch(ctx context.Context, st *statement) watch {
	w := watch{s: s, st: st, slow: s.slow()}
	w.fn, _ = ctx.Value(observerKey{}).(Observer)
	if w.fn != nil || w.slow > 0 || st.list {
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
	if w.slow > 0 && d >= w.slow {
		w.logSlow(d)
	}
	if w.fn != nil {
		w.fn(w.st.text, args, d)
	}
}

// maxLoggedSQL is how many bytes of a statement the log shows: a list of many
// names has as many placeholders.
const maxLoggedSQL = 2000

// logSlow notes a slow statement, without its arguments: a log is read by more
// people than a database.
func (w *watch) logSlow(d time.Duration) {
	text, doctype := w.st.text, ""
	if len(text) > maxLoggedSQL {
		text = strings.ToValidUTF8(text[:maxLoggedSQL], "") + "..."
	}
	if w.st.dt != nil {
		doctype = w.st.dt.Name
	}
	w.s.log.Warn("slow statement", slog.String("doctype", doctype), slog.Int64("duration_us", d.Microseconds()), slog.String("sql", text))
}
