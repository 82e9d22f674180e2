package document

import "context"

type replicaKey struct{}

// WithReplica lets what a Store's Read and View are asked in this context come from a
// replica, one that has everything that was acknowledged to anybody before they were
// called. The function given to them may then run again, on the primary. It is for what
// only answers with documents; who checks a credential asks without it.
func WithReplica(ctx context.Context) context.Context {
	return context.WithValue(ctx, replicaKey{}, true)
}

// MayUseReplica reports whether WithReplica was called.
func MayUseReplica(ctx context.Context) bool {
	may, _ := ctx.Value(replicaKey{}).(bool)
	return may
}
