package store

import (
	"context"

	"armature/core/account"
)

// What rows take, in bytes.
const (
	// freeRows is how much may be read without asking the account of memory: a
	// request has paid for some kilobytes.
	freeRows = 32 << 10
	// rowsFactor is how many times their length rows take that are read and put into
	// an answer, which grows by half of itself.
	rowsFactor = 3
)

// charged has the rows that fn takes charged to the call of ctx, where it has one,
// before they are added to what is there. A row itself is in memory before it is
// known how long it is.
func charged(ctx context.Context, fn rowFunc) rowFunc {
	call := account.From(ctx)
	if call == nil {
		return fn
	}
	read, admitted := int64(0), int64(freeRows)
	return func(values []any) error {
		for _, v := range values {
			switch v := v.(type) {
			case string:
				read += int64(len(v))
			case []byte:
				read += int64(len(v))
			}
		}
		if read > admitted {
			admitted = read + read/2
			if err := call.Reach(ctx, account.Answer, rowsFactor*admitted); err != nil {
				return err
			}
		}
		return fn(values)
	}
}
