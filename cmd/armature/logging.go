package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// logging is how the log is written.
type logging struct {
	format string
	level  slog.Level
	access bool
}

func (l *logging) flags(flags *pflag.FlagSet) {
	flags.StringVar(&l.format, "log-format", "text", "text or json")
	flags.TextVar(&l.level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	flags.BoolVar(&l.access, "access-log", true, "log every request, at level info")
}

// accessTo is the log for requests; nil when they are not logged.
func (l *logging) accessTo(log *slog.Logger) *slog.Logger {
	if !l.access {
		return nil
	}
	return log
}

func (l *logging) logger(w io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: l.level}
	switch l.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: use text or json", l.format)
}
