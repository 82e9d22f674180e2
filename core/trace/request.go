package trace

import "context"

// Request is what is said of a request to those who are asked by it: the database.
type Request struct {
	ID     string
	Action string // path of a method, or the kind of what was asked for
}

type requestKey struct{}

// WithRequest returns a context of a request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request of a context; ok is false where nobody has said it.
func RequestOf(ctx context.Context) (r Request, ok bool) {
	r, ok = ctx.Value(requestKey{}).(Request)
	return r, ok
}
