package account

import "context"

// Connection is what the requests of one connection hold together.
type Connection struct{ share }

type (
	callKey       struct{}
	connectionKey struct{}
)

// With returns a context whose work is charged to the call.
func With(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// From is the call that ctx is charged to; nil: none, and nothing is charged.
func From(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Connect returns the context of a new connection, whose requests together may hold
// as much as one of them.
func (a *Account) Connect(ctx context.Context) context.Context {
	c := &Connection{}
	c.most = a.part(callEighths)
	return context.WithValue(ctx, connectionKey{}, c)
}

// ConnectionOf is the connection that ctx belongs to; nil: none that is known.
func ConnectionOf(ctx context.Context) *Connection {
	c, _ := ctx.Value(connectionKey{}).(*Connection)
	return c
}
