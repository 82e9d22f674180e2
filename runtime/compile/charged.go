package compile

import (
	"context"

	"armature/core/account"
)

// charged is a Compiler whose processes are charged to an account.
type charged struct {
	Compiler
	memory *account.Call
}

// Charged is a Compiler that takes the memory of its limits from an account before it
// begins, and where there can never be that much, as much as there can be. An error
// besides those of inner is that of account.Call.Take.
func Charged(inner Compiler, memory *account.Call) Compiler { return &charged{inner, memory} }

// Compile implements Compiler.
func (c *charged) Compile(ctx context.Context, binary []byte, folder string, l Limits) (Made, error) {
	l.Memory = min(l.Memory, uint64(c.memory.Most()))
	if err := c.memory.Take(ctx, account.Child, int64(l.Memory)); err != nil {
		return Made{}, err
	}
	defer c.memory.Give(account.Child, int64(l.Memory))
	return c.Compiler.Compile(ctx, binary, folder, l)
}
