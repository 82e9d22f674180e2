package document

import "context"

type originKey struct{}

// WithOrigin notes under which address, scheme and host, a client has reached
// the site, for documents that hold addresses of it.
func WithOrigin(ctx context.Context, origin string) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// Origin is what WithOrigin noted; empty when nobody did. It is what the client
// says and no address of the site can be trusted by it alone.
func Origin(ctx context.Context) string {
	origin, _ := ctx.Value(originKey{}).(string)
	return origin
}
