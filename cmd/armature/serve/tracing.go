package serve

import (
	"context"
	"log/slog"
	"time"

	"armature/core/trace"
	"armature/core/trace/otlp"
)

// tracesTimeout is how long sending the last spans may take.
const tracesTimeout = 5 * time.Second

// openTracer makes what follows requests; nil where nothing is to be traced.
func openTracer(s serving, version string, log *slog.Logger) (t trace.Tracer, end func(), err error) {
	if s.traces == "" {
		return nil, func() {}, nil
	}
	out, err := otlp.Open(otlp.Config{Endpoint: s.traces, Headers: s.traceHeaders, Ratio: s.traceRatio, Version: version, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	return out, func() {
		ctx, cancel := context.WithTimeout(context.Background(), tracesTimeout)
		defer cancel()
		if err := out.Close(ctx); err != nil {
			log.Warn("the last traces are lost", "error", err)
		}
	}, nil
}
