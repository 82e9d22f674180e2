package hostapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/notice"
	"armature/runtime/engine"
)

// operation does what a capability is for: it reads the request, which is valid
// until it returns, and appends the answer to dst.
type operation func(ctx context.Context, st *State, dst, request []byte) ([]byte, error)

type capability struct {
	name string
	run  operation
	// free ones need no grant, because they tell the call only what it may know
	// anyway, and never wait.
	free  bool
	grant Grants
}

func withGrants(cs []capability) []capability {
	for i := range cs {
		cs[i].grant = Grant(cs[i].name)
	}
	return cs
}

func missing(name string) *fault.Error {
	return fault.New(fault.NotImplemented, "", "This server does not offer %s", name)
}

// ending is an error that no guest may catch, such as a limit that is used up.
type ending struct{ error }

// serve is the host function of the capability: (in, in_len, out, out_cap) -> len.
func (cp capability) serve() func(*engine.Call, []uint64) {
	return func(c *engine.Call, stack []uint64) {
		st := of(c)
		if st == nil {
			stack[0] = unavailable
			return
		}
		st.fits(c, cp.name, uint64(uint32(stack[1])))
		if f := st.ask(c, cp, receive(c, stack[0], stack[1])); f != nil {
			st.leave(f)
			stack[0] = result(-int32(f.Kind))
			return
		}
		st.taken = deliver(c, stack[2], stack[3], st.answer)
		stack[0] = result(int32(len(st.answer)))
	}
}

// fits ends a call whose request is too long.
func (st *State) fits(c *engine.Call, name string, length uint64) {
	if limit := st.limits.Output; length > uint64(limit) {
		c.Abort(fault.New(fault.Exhausted, "", "%s: the request is over %d bytes", name, limit))
	}
}

// ask does what the capability is for, if the call may use it, and leaves the
// answer in st. An error is one the guest may know of.
func (st *State) ask(c *engine.Call, cp capability, request []byte) *fault.Error {
	pay(c, request)
	st.work = work{st: st, run: cp.run, request: request}
	w := &st.work
	switch {
	case st.replay != nil:
		w.err = st.repeat(cp.name, w.request)
	case !cp.free && !st.plugin.Grants.Has(cp.grant):
		w.err = fault.Ungranted(st.plugin.Name, cp.name)
	case cp.free:
		w.ctx = st.base
		w.do()
	default:
		// It may wait for the database, and whom it waits for may need the
		// processor this call holds.
		w.ctx = st.open(c.Context())
		c.Blocking(st.perform)
		st.shut()
		st.bind()
	}
	if limit := st.limits.Input; w.err == nil && len(st.answer) > limit {
		w.err = ending{fault.New(fault.Exhausted, "", "%s: the answer is over %d bytes", cp.name, limit)}
	}
	c.Spend(byteFuel * uint64(len(st.answer)))
	if st.record != nil {
		st.record.answered(cp.name, w.request, st.answer, w.err)
	}
	if w.err != nil {
		if errors.Is(w.err, context.DeadlineExceeded) || errors.Is(w.err, context.Canceled) {
			c.CheckTime()
		}
		return told(c, w.err)
	}
	return nil
}

// work is one operation under way. It lies in the State so that handing it to
// engine.Call.Blocking allocates nothing.
type work struct {
	st      *State
	ctx     context.Context
	run     operation
	request []byte
	err     error
}

func (w *work) do() {
	told := notice.Of(w.ctx)
	mark := told.Mark()
	answer, err := w.run(w.ctx, w.st, w.st.answer[:0], w.request)
	if err == nil {
		w.st.answer = answer
	} else {
		told.Back(mark) // handlers of a write that is undone
	}
	w.err = err
}

// told is an error as the guest may know of it. Three sorts of
// errors are none of the guest's business and end its call: a limit that is used
// up, a write in a transaction that only reads, which has the whole method start
// again with a writer, and what is no fault, such as a deadlock that the store
// answers by running the transaction again.
func told(c *engine.Call, err error) *fault.Error {
	if end, ok := err.(ending); ok {
		c.Abort(end.error)
	}
	var f *fault.Error
	if errors.Is(err, document.ErrReadOnly) || !errors.As(err, &f) {
		c.Abort(err)
	}
	if f.Kind == fault.Internal {
		return fault.Wrap(f.Kind, f.Type, f, "Something went wrong on the server")
	}
	return f
}

// leave lets the guest take an error.
func (st *State) leave(f *fault.Error) {
	b := append(st.answer[:0], `{"exc_type":`...)
	b = doctype.AppendString(b, f.ExcType())
	b = append(b, `,"message":`...)
	b = doctype.AppendString(b, f.Message)
	st.answer, st.taken = append(b, '}'), 0
}

// decode reads a request into v. Members that v does not have are ignored.
func decode(name string, request []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.UseNumber() // a float64 would round whole numbers
	err := dec.Decode(v)
	if err == nil && len(bytes.TrimSpace(request[dec.InputOffset():])) > 0 {
		err = errors.New("more text after the request")
	}
	if err != nil {
		return fault.Wrap(fault.BadRequest, "", err, "%s: the request is not the JSON it should be: %v", name, err)
	}
	return nil
}

// need refuses a request without a member.
func need(name, member, value string) error {
	if value == "" {
		return fault.New(fault.BadRequest, "", "%s: %s is missing", name, member)
	}
	return nil
}
