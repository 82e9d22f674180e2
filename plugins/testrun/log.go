package testrun

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// Lines is a slog.Handler that keeps what a test and its plugin log, a text for each
// line.
type Lines struct {
	mu   sync.Mutex
	kept []string
}

// Take gives the lines since it was last asked.
func (l *Lines) Take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	l.kept = nil
	return kept
}

func (l *Lines) keep(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, line)
}

// Enabled implements slog.Handler.
func (l *Lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *Lines) Handle(_ context.Context, r slog.Record) error {
	l.keep(shown(r))
	return nil
}

// WithAttrs implements slog.Handler: what all lines have in common is known.
func (l *Lines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *Lines) WithGroup(string) slog.Handler { return l }

// OfPlugins is a handler for all that a platform logs: it keeps what plugins log, and
// of the rest what is wrong.
func (l *Lines) OfPlugins() slog.Handler { return ofPlugins{lines: l} }

type ofPlugins struct {
	lines *Lines
	own   bool // by a plugin
}

func (h ofPlugins) Enabled(context.Context, slog.Level) bool { return true }

func (h ofPlugins) Handle(_ context.Context, r slog.Record) error {
	own, call := h.own, false
	r.Attrs(func(a slog.Attr) bool {
		own = own || a.Key == "plugin"
		call = call || a.Key == "fuel" // a failed call, of which the test is told
		return true
	})
	if r.Level >= slog.LevelWarn || own && !call {
		h.lines.keep(shown(r))
	}
	return nil
}

func (h ofPlugins) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.own = h.own || a.Key == "plugin"
	}
	return h
}

func (h ofPlugins) WithGroup(string) slog.Handler { return h }

// shownAttrs are the attributes of the platform's own lines that an author needs.
var shownAttrs = map[string]bool{"error": true, "trace": true}

// shown is a line as an author reads it.
func shown(r slog.Record) string {
	var b strings.Builder
	if r.Level != slog.LevelInfo {
		b.WriteString(strings.ToLower(r.Level.String()) + ": ")
	}
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		switch {
		case a.Key == "guest": // the attributes that are the script's
			for _, own := range a.Value.Group() {
				b.WriteString(" " + own.String())
			}
		case shownAttrs[a.Key]:
			b.WriteString(" " + a.String())
		}
		return true
	})
	return b.String()
}
