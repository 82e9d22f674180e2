package hostapi

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
)

// transaction is what a guest's calls know of the request's transaction: whether
// it has begun, after which nobody may wait for the network. Nested calls share
// it.
//
// A transaction that may write begins with its first statement, a read too:
// from then on it may keep others from writing. One that only reads never
// begins in this sense.
type transaction struct {
	begun bool
	reads bool           // it only reads
	views document.Store // of a method whose manifest says tx manual: where it reads until it writes

	held held
}

// join makes or finds what is known of the call's transaction. An event, which
// has no method, is part of a write.
func (st *State) join(outer *State) {
	if st.transaction = &st.joined; outer != nil {
		st.transaction = outer.transaction
	}
	if m := st.call.Method; m == nil {
		st.transaction.begun = true
	} else if outer == nil {
		st.joined.reads = method.Reads(st.call.Verb) && !m.Writes
	}
}

// ReadOutside has the call read in views, outside of the request's transaction,
// until it writes: tx manual. A call that is nested in another one's
// transaction stays in it.
func (st *State) ReadOutside(views document.Store) {
	if st.call.Parent == nil && !st.joined.reads {
		st.joined.views = views
	}
}

// tx is the transaction of the request, which begins now.
func (st *State) tx() (document.Tx, error) {
	if st.call.Tx == nil || st.call.Documents == nil {
		return nil, fault.New(fault.Unavailable, "", "This call has no transaction")
	}
	st.begin()
	return st.call.Tx, nil
}

func (st *State) begin() { st.transaction.begun = st.transaction.begun || !st.transaction.reads }

// read runs an operation that only reads: in the transaction, or outside of it
// where that may be and it has not begun.
func (st *State) read(ctx context.Context, dst []byte, fn func(tx document.Tx, dst []byte) ([]byte, error)) ([]byte, error) {
	t := st.transaction
	if t.views != nil && !t.begun {
		return readOutside(ctx, t.views, dst, fn)
	}
	tx, err := st.tx()
	if err != nil {
		return nil, err
	}
	return fn(tx, dst)
}

func readOutside(ctx context.Context, views document.Store, dst []byte, fn func(tx document.Tx, dst []byte) ([]byte, error)) (out []byte, err error) {
	err = views.Read(ctx, func(tx document.Tx) error {
		out, err = fn(tx, dst)
		return err
	})
	return out, err
}
