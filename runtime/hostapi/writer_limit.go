package hostapi

import (
	"context"
	"time"

	"armature/core/document"
	"armature/runtime/engine"
)

// held is the time that the guests of a transaction have from the moment in which
// it keeps others from writing. The outermost one's limit counts; nested calls and
// handlers share it.
type held struct {
	most    time.Duration  // that guests may keep it
	hold    *document.Hold // nil: it has not begun, or keeps nobody
	entered time.Time      // the guests have had it since then
	until   time.Time      // and must have ended by then
}

// start is called when the transaction begins, or the outermost guest does in one
// that has. What guests had of it before counts: the handlers of one save share
// their time.
func (h *held) start(hold *document.Hold) {
	h.hold, h.entered = hold, time.Now()
	h.until = h.entered.Add(h.most - hold.InPlugins)
}

// due is when guests must have ended.
func (h *held) due() engine.Due {
	return engine.Due{At: h.until, Allowed: h.most, For: "a transaction may be kept open for"}
}

// enter is called when the outermost guest starts.
func (st *State) enter() {
	h := &st.transaction.held
	if h.most = st.limits.Tx; h.most <= 0 {
		h.most = DefaultLimits.Tx
	}
	if st.call.Tx != nil {
		st.call.Tx.OnBegin(st.plugin.Name, h.start)
	}
}

// exit is called when the outermost guest has ended, with its error. One that got
// past the end of its time, because a nested call had used it up, has failed.
func (st *State) exit(err error) error {
	if st.call.Tx != nil {
		st.call.Tx.OnBegin(st.plugin.Name, nil)
	}
	h := &st.transaction.held
	if h.hold == nil {
		return err
	}
	now := time.Now()
	h.hold.InPlugins += now.Sub(h.entered)
	if err == nil && now.After(h.until) {
		st.bind()
		return st.engine.Overdue()
	}
	return err
}

// bind lowers the deadline of the call to the transaction's, which it or a nested
// one has begun.
func (st *State) bind() {
	if h := &st.transaction.held; h.hold != nil && !st.timed {
		st.timed = true
		st.engine.Until(h.due())
	}
}

// opening is an operation that may begin the transaction: its context must end
// with the time that starts then.
type opening struct {
	outer  *opening // of the guest that called this one
	cancel context.CancelFunc
	timer  *time.Timer
}

// begun starts the clock of the operation, and of those it is nested in.
func (o *opening) begun(h *held) {
	for ; o != nil; o = o.outer {
		o.timer = time.AfterFunc(time.Until(h.until), o.cancel)
	}
}

// open is the context of the next operation.
func (st *State) open(ctx context.Context) context.Context {
	t := st.transaction
	if t.held.hold != nil || t.reads || st.call.Tx == nil {
		return ctx
	}
	o := &opening{}
	if st.outer != nil {
		o.outer = st.outer.opening
	}
	ctx, o.cancel = context.WithCancel(ctx)
	st.opening = o
	st.listen(o)
	return ctx
}

// listen has the clock of an operation start with the transaction.
func (st *State) listen(o *opening) {
	h := &st.transaction.held
	st.call.Tx.OnBegin(st.plugin.Name, func(hold *document.Hold) {
		h.start(hold)
		o.begun(h)
	})
}

// shut ends what open began.
func (st *State) shut() {
	o := st.opening
	if o == nil {
		return
	}
	st.opening = nil
	if o.timer != nil {
		o.timer.Stop()
	}
	o.cancel()
	if st.transaction.held.hold == nil {
		st.listen(o.outer)
	}
}
