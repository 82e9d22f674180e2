package deadline

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestContext: whoever looks, waits, or derives a context sees what they would
// see of one of context.WithDeadline, whatever has been done with it before.
func TestContext(t *testing.T) {
	type stringKey string
	const long = time.Hour
	tests := []struct {
		name string
		wall time.Duration
		do   func(b *Context, cancelBase func())
		want error
	}{
		{"nothing", long, func(*Context, func()) {}, nil},
		{"time is up", -1, func(*Context, func()) {}, context.DeadlineExceeded},
		{"time is up, then the caller goes", -1, func(b *Context, gone func()) { _ = b.Err(); gone() }, context.DeadlineExceeded},
		{"the caller goes", long, func(_ *Context, gone func()) { gone() }, context.Canceled},
		{"the caller of a waiter goes", long, func(b *Context, gone func()) { b.Done(); gone() }, context.Canceled},
		{"the call ends", long, func(b *Context, _ func()) { b.End() }, context.Canceled},
		{"the call of a waiter ends", long, func(b *Context, _ func()) { b.Done(); b.End() }, context.Canceled},
		{"time is up and the call ends", -1, func(b *Context, _ func()) { _ = b.Err(); b.End() }, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		looks := map[string]func(ctx context.Context) error{
			"Err": context.Context.Err,
			"Done": func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				default:
					return nil
				}
			},
			"Cause": context.Cause,
			"a child": func(ctx context.Context) error {
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				return child.Err()
			},
		}
		for look, at := range looks {
			t.Run(tt.name+"/"+look, func(t *testing.T) {
				base, gone := context.WithCancel(context.WithValue(t.Context(), stringKey("k"), "v"))
				defer gone()
				b := New(base, time.Now().Add(tt.wall))
				defer b.End()
				tt.do(b, gone)
				for range 2 {
					if err := at(b); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
						t.Errorf("got %v, want %v", err, tt.want)
					}
				}
				if v := b.Value(stringKey("k")); v != "v" {
					t.Errorf("the value is %v", v)
				}
				if d, ok := b.Deadline(); !ok || !d.Equal(b.deadline) {
					t.Errorf("the deadline is %v, %v", d, ok)
				}
			})
		}
	}
}

// TestContextWakes: those who wait, and what they derive, hear of the end.
func TestContextWakes(t *testing.T) {
	for name, end := range map[string]func(b *Context, gone func()){
		"by its time":   func(*Context, func()) {},
		"by the call":   func(b *Context, _ func()) { b.End() },
		"by the caller": func(_ *Context, gone func()) { gone() },
	} {
		t.Run(name, func(t *testing.T) {
			base, gone := context.WithCancel(t.Context())
			defer gone()
			wall := time.Hour
			if name == "by its time" {
				wall = 10 * time.Millisecond
			}
			b := New(base, time.Now().Add(wall))
			defer b.End()
			child, cancel := context.WithCancel(b)
			defer cancel()
			end(b, gone)
			for _, ctx := range []context.Context{b, child} {
				select {
				case <-ctx.Done():
				case <-time.After(2 * time.Minute):
					t.Fatal("nobody hears of it")
				}
				if ctx.Err() == nil {
					t.Error("it has ended without an error")
				}
			}
		})
	}
}
