package serve

import (
	"context"
	"log/slog"
	"strings"
)

// quiet is the log of net/http's server without failed handshakes, except at
// level debug: scanners make them all day, and an operator can do nothing about
// them.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "http: TLS handshake error") {
		r.Level = slog.LevelDebug
		if !q.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return q.Handler.Handle(ctx, r)
}
