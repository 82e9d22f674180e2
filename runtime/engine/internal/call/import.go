package call

import "context"

// Import is one host function. Fn finds its parameters in the stack, in order,
// and leaves its result in stack[0]. Every call of it counts against
// Limits.HostCalls, unless it is Light: one that reaches nothing but memory and
// costs no more than the fuel of any import.
type Import struct {
	Module, Name    string
	Params, Results []ValueType
	Light           bool
	Fn              func(c *Call, stack []uint64)
}

// Func is the import as the WebAssembly runtime calls it: it finds the call, and
// counts.
func (im Import) Func() func(ctx context.Context, stack []uint64) {
	fn := im.Fn
	if im.Light {
		return func(ctx context.Context, stack []uint64) { fn(Of(ctx), stack) }
	}
	return func(ctx context.Context, stack []uint64) {
		c := Of(ctx)
		c.usage.HostCalls++
		if c.usage.HostCalls > c.limits.HostCalls {
			stop(HostCalls, "more than %d", c.limits.HostCalls)
		}
		fn(c, stack)
	}
}
