package httpapi

import (
	"log/slog"
	"strings"
	"time"
)

// maxLoggedPath is how many bytes of a path the log shows.
const maxLoggedPath = 1000

// logAccess writes the line of the access log. The query string stays out of it:
// it may carry a session, a code or a token. So do all headers, for the same
// reason.
func (x *exchange) logAccess(took time.Duration) {
	log := x.server.access
	if log == nil || !log.Enabled(x.ctx, slog.LevelInfo) {
		return
	}
	attrs := [12]slog.Attr{
		slog.String("id", x.id),
		slog.String("site", x.siteName()),
		slog.String("user", x.caller.User),
		slog.String("from", x.address()),
		slog.String("method", x.r.Method),
		slog.String("path", x.loggedPath()),
		slog.Int("status", x.w.status),
		slog.Int64("bytes", x.w.bytes),
		// A JSON log has no durations, so the names say the unit.
		slog.Int64("duration_us", took.Microseconds()),
		slog.Int64("processing_us", x.processing.Microseconds()),
	}
	n := 10
	if x.caller.Client != "" {
		attrs[n] = slog.String("client", x.caller.Client)
		n++
	}
	log.LogAttrs(x.ctx, slog.LevelInfo, "request", attrs[:n]...)
}

func (x *exchange) siteName() string {
	if x.site == nil {
		return ""
	}
	return x.site.Name
}

// loggedPath is the path as logs show it.
func (x *exchange) loggedPath() string {
	path := x.r.URL.Path
	if len(path) > maxLoggedPath {
		return strings.ToValidUTF8(path[:maxLoggedPath], "") + "..."
	}
	return path
}
