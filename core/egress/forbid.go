package egress

import (
	"context"

	"armature/core/fault"
)

type forbiddenKey struct{}

// Forbid is a context under which no request is sent: each is refused as Permission, and
// asked is told of it before.
func Forbid(ctx context.Context, asked func(method, url string)) context.Context {
	return context.WithValue(ctx, forbiddenKey{}, asked)
}

func unconfirmed(ctx context.Context, method, url string) error {
	asked, ok := ctx.Value(forbiddenKey{}).(func(method, url string))
	if !ok {
		return nil
	}
	asked(method, url)
	return fault.Denied("Nothing is sent to other servers by this call before somebody has confirmed it")
}
