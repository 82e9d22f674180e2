package scripttest

import (
	"context"
	"log/slog"
	"strings"
)

// logLines is a slog.Handler that keeps what a test and its script log, a text for
// each line.
type logLines []string

// Enabled implements slog.Handler.
func (l *logLines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	if r.Level != slog.LevelInfo {
		b.WriteString(strings.ToLower(r.Level.String()) + ": ")
	}
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "guest" { // the attributes that are the script's
			for _, own := range a.Value.Group() {
				b.WriteString(" " + own.String())
			}
		}
		return true
	})
	*l = append(*l, b.String())
	return nil
}

// WithAttrs implements slog.Handler; nobody asks for it here.
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler; nobody asks for it here.
func (l *logLines) WithGroup(string) slog.Handler { return l }
