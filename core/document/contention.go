package document

import (
	"context"
	"time"
)

// Hold is for how long a transaction keeps others from writing: a SQLite file's
// only writer, or a connection and the locks it takes. It belongs to the
// goroutine of its Tx.
type Hold struct {
	Since     time.Time     // the transaction has begun
	InPlugins time.Duration // on the clock, of it in code of plugins that has ended
}

type partyKey struct{}

// WithParty returns a context in which transactions of mode PluginTx wait for their
// turns as one of a party: of each only one call at a time stands in the line.
func WithParty(ctx context.Context, party string) context.Context {
	return context.WithValue(ctx, partyKey{}, party)
}

// PartyOf is the party of a context; "others" where it has none.
func PartyOf(ctx context.Context) string {
	if party, _ := ctx.Value(partyKey{}).(string); party != "" {
		return party
	}
	return "others"
}
