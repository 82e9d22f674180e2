package serve

import (
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"armature/cmd/armature/terminal"
	"armature/core/accesslog"
)

// logging is what is logged, and how.
type logging struct {
	format string
	level  slog.Level
	access bool
	slow   int // milliseconds
}

func (l *logging) flags(flags *pflag.FlagSet) {
	flags.StringVar(&l.format, "log-format", "text", "text or json")
	flags.TextVar(&l.level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	flags.BoolVar(&l.access, "access-log", true, "log every request, at level info")
	flags.IntVar(&l.slow, "slow-query-ms", 500, "log SQL statements that take so many milliseconds, without their values; 0: none")
}

// loggingOf is what flags say that have been read.
func loggingOf(flags *pflag.FlagSet) (l logging, err error) {
	format, ferr := flags.GetString("log-format")
	access, aerr := flags.GetBool("access-log")
	slow, serr := flags.GetInt("slow-query-ms")
	l = logging{format: format, access: access, slow: slow}
	return l, errors.Join(ferr, aerr, serr, flags.GetText("log-level", &l.level))
}

// journal is the log of a running server. What it shows can be changed.
type journal struct {
	main   *slog.Logger
	access *accesslog.Log // for requests

	level     slog.LevelVar
	slowQuery atomic.Int64 // nanoseconds
}

func openJournal(l logging, w io.Writer) (*journal, error) {
	var out journal
	options := &slog.HandlerOptions{Level: &out.level, ReplaceAttr: errorText}
	switch l.format {
	case "text":
		out.access = accesslog.New(w, accesslog.Text)
		out.main = slog.New(slog.NewTextHandler(out.access.Beside(), options))
	case "json":
		out.access = accesslog.New(w, accesslog.JSON)
		out.main = slog.New(slog.NewJSONHandler(out.access.Beside(), options))
	default:
		return nil, terminal.Misuse("--log-format %q: use text or json", l.format)
	}
	return &out, out.set(l)
}

// errorText has errors say what they say: slog's text asks for every detail, and
// those of some libraries answer with the stack and the paths of the machine that
// the program was built on.
func errorText(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(err.Error())
	}
	return a
}

// set changes what is logged.
func (out *journal) set(l logging) error {
	if l.slow < 0 {
		return terminal.Misuse("--slow-query-ms %d: must be 0 or more", l.slow)
	}
	out.level.Set(l.level)
	out.access.Enable(l.access && l.level <= slog.LevelInfo)
	out.slowQuery.Store(int64(time.Duration(l.slow) * time.Millisecond))
	return nil
}

// slow is how long an SQL statement may take before it is logged.
func (out *journal) slow() time.Duration { return time.Duration(out.slowQuery.Load()) }
