package store

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"armature/core/trace"
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
	span  trace.Span // nil: nobody follows the request
	fn    Observer
}

func (s *Store) watch(ctx context.Context, st *statement) watch {
	w := watch{s: s, st: st, slow: s.slow()}
	w.fn, _ = ctx.Value(observerKey{}).(Observer)
	if trace.Of(ctx) != nil {
		w.span = span(ctx, st)
	}
	if w.fn != nil || w.slow > 0 || w.span != nil || st.list {
		w.start = time.Now()
	}
	return w
}

func (w *watch) done(args []any) {
	if w.start.IsZero() {
		return
	}
	d := time.Since(w.start)
	if w.span != nil {
		w.span.End("")
	}
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

// span begins the span of a statement, which has its text and no value.
func span(ctx context.Context, st *statement) trace.Span {
	verb, _, _ := strings.Cut(strings.TrimSpace(st.text), " ")
	_, span := trace.Start(ctx, trace.Client, strings.TrimSpace(verb+" "+st.about()))
	span.Set("db.collection.name", st.about())
	span.Set("db.query.text", st.shown())
	return span
}

// about is the DocType of a statement; empty: one of the store's own tables.
func (st *statement) about() string {
	if st.dt == nil {
		return ""
	}
	return st.dt.Name
}

// shown is the text of a statement as logs and traces show it.
func (st *statement) shown() string {
	if len(st.text) > maxLoggedSQL {
		return strings.ToValidUTF8(st.text[:maxLoggedSQL], "") + "..."
	}
	return st.text
}

// maxLoggedSQL is how many bytes of a statement the log shows: a list of many
// names has as many placeholders.
const maxLoggedSQL = 2000

// logSlow notes a slow statement, without its arguments: a log is read by more
// people than a database.
func (w *watch) logSlow(d time.Duration) {
	w.s.log.Warn("slow statement", slog.String("doctype", w.st.about()), slog.Int64("duration_us", d.Microseconds()), slog.String("sql", w.st.shown()))
}
