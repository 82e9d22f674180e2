package call

import (
	"context"
	"time"
)

// running is a call as the WebAssembly runtime sees it: the context of what the guest
// runs, in which host functions find the call without an allocation, and who is asked
// for memory.
type running Call

// key is the context key under which a running call is found.
type key struct{}

// Of is the call in whose guest a host function is called.
func Of(ctx context.Context) *Call {
	if r, ok := ctx.(*running); ok { // unless the runtime has wrapped it
		return (*Call)(r)
	}
	return ctx.Value(key{}).(*Call)
}

// Deadline is the caller's.
func (r *running) Deadline() (time.Time, bool) { return r.base.Deadline() }

// Done is the caller's.
func (r *running) Done() <-chan struct{} { return r.base.Done() }

// Err is the caller's.
func (r *running) Err() error { return r.base.Err() }

// Value finds the call itself, then what the caller's context has.
func (r *running) Value(name any) any {
	if name == (key{}) {
		return (*Call)(r)
	}
	return r.base.Value(name)
}
