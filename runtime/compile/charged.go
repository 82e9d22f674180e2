package compile

import (
	"context"
	"errors"

	"armature/core/account"
	"armature/core/fault"
	"armature/runtime/child"
)

// charged is a Compiler whose processes are charged to an account.
type charged struct {
	Compiler
	memory *account.Call
}

// Charged is a Compiler that takes the memory of its limits from an account before it
// begins, and where there can never be that much, as much as there can be: a module that
// this is too little for is Unavailable, since a server with more memory takes it. An
// error besides is that of account.Call.Take.
func Charged(inner Compiler, memory *account.Call) Compiler { return &charged{inner, memory} }

// Compile implements Compiler.
func (c *charged) Compile(ctx context.Context, binary []byte, folder string, l Limits) (Made, error) {
	full := l.Memory
	l.Memory = min(l.Memory, uint64(c.memory.Most()))
	if err := c.memory.Take(ctx, account.Child, int64(l.Memory)); err != nil {
		return Made{}, err
	}
	defer c.memory.Give(account.Child, int64(l.Memory))
	made, err := c.Compiler.Compile(ctx, binary, folder, l)
	if l.Memory < full && errors.Is(err, child.ErrMemory) {
		err = fault.Wrap(fault.Unavailable, "", err, "The module was not compiled: the server has no more than %d MiB for it", l.Memory>>20)
	}
	return made, err
}
