// Package trace lets a request be followed through the server. What works on a
// request says Start and End; who listens, if anybody does, is in the context.
//
// A span is one step of a request with a beginning and an end, and may have steps
// of its own. Nothing that a client, a guest or a database said as a value stands
// in a span: no arguments, no query strings, no headers.
package trace

import (
	"context"
	"net/http"
	"time"
)

// Kind is on which side of a conversation a span is.
type Kind uint8

const (
	Internal Kind = iota
	Server        // it answers somebody
	Client        // it asks somebody
)

// Tracer receives spans. It may be used by many goroutines.
type Tracer interface {
	// Incoming returns a context whose spans belong to the trace that the headers
	// of a request name (W3C Trace Context), if they do.
	Incoming(ctx context.Context, h http.Header) context.Context
	// Start begins a span below the one in ctx, and returns a context whose spans
	// are below this one.
	Start(ctx context.Context, kind Kind, name string, at time.Time) (context.Context, Span)
}

// Span is a step under way. One goroutine uses it at a time.
type Span interface {
	// Set says something about the step; a value is a string or an int64.
	Set(key string, value any)
	// End ends the step; kind is the exc_type of what it failed with, or empty.
	End(failure string)
}

type key struct{}

// With returns a context whose spans t receives.
func With(ctx context.Context, t Tracer) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns who receives the spans of a context; nil: nobody.
func Of(ctx context.Context) Tracer {
	t, _ := ctx.Value(key{}).(Tracer)
	return t
}

// Start begins a step. Where nobody listens it costs looking that up.
func Start(ctx context.Context, kind Kind, name string) (context.Context, Span) {
	t := Of(ctx)
	if t == nil {
		return ctx, silent{}
	}
	return t.Start(ctx, kind, name, time.Now())
}

type silent struct{}

func (silent) Set(string, any) {}
func (silent) End(string)      {}
