// Package otlp sends spans to an OpenTelemetry collector, with the SDK of
// OpenTelemetry and an exporter of ours.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"armature/core/trace"
)

// Config is where spans go.
type Config struct {
	// Endpoint is the URL of a collector that takes OTLP over HTTP, without
	// /v1/traces, such as http://127.0.0.1:4318.
	Endpoint string
	// Headers go with every request to it: name=value, separated by commas.
	Headers string
	// Ratio is the share of requests that are followed, 0 to 1. A request that
	// brings a trace along is followed if that is.
	Ratio float64
	// Version is the server's.
	Version string
	Logger  *slog.Logger // nil: nothing is logged
}

// Tracer is a trace.Tracer.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	incoming propagation.TraceContext
}

var _ trace.Tracer = (*Tracer)(nil)

// Open makes a tracer. The collector need not be there: spans that it does not
// take are dropped.
func Open(c Config) (*Tracer, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("traces: %q is not the URL of a collector", c.Endpoint)
	}
	if !(c.Ratio >= 0 && c.Ratio <= 1) {
		return nil, errors.New("traces: the share of requests must be 0 to 1")
	}
	headers, err := parseHeaders(c.Headers)
	if err != nil {
		return nil, err
	}
	e := &exporter{url: strings.TrimSuffix(c.Endpoint, "/") + "/v1/traces", headers: headers, version: c.Version, log: c.Logger}
	p := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(c.Ratio))))
	return &Tracer{provider: p, tracer: p.Tracer("armature")}, nil
}

func parseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, errors.New("traces: headers are name=value, separated by commas") // not what it says: it may be a secret
		}
		h.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, nil
}

// Close sends what there is and ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Incoming implements trace.Tracer.
func (t *Tracer) Incoming(ctx context.Context, h http.Header) context.Context {
	return t.incoming.Extract(ctx, propagation.HeaderCarrier(h))
}

// Start implements trace.Tracer.
func (t *Tracer) Start(ctx context.Context, kind trace.Kind, name string, at time.Time) (context.Context, trace.Span) {
	kinds := [...]otel.SpanKind{trace.Internal: otel.SpanKindInternal, trace.Server: otel.SpanKindServer, trace.Client: otel.SpanKindClient}
	ctx, s := t.tracer.Start(ctx, name, otel.WithSpanKind(kinds[kind]), otel.WithTimestamp(at))
	return ctx, span{s}
}

type span struct{ of otel.Span }

func (s span) Set(key string, value any) {
	switch v := value.(type) {
	case string:
		s.of.SetAttributes(attribute.String(key, v))
	case int64:
		s.of.SetAttributes(attribute.Int64(key, v))
	}
}

func (s span) End(failure string) {
	if failure != "" {
		s.of.SetStatus(codes.Error, failure)
	}
	s.of.End()
}
