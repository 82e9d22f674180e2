package hostapi

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"armature/core/identity"
	"armature/core/method"
	"armature/core/scope"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Plugin is what the calls of one plugin on one site have in common. It must not
// change.
type Plugin struct {
	Site   string
	Name   string
	Grants Grants
	Frame  *scope.Set // what narrows whom its calls act as; nil: nothing
	Limits Limits
	Logger *slog.Logger // nil: nothing is logged

	// Config reads the plugin's configuration on the site; a nil value means
	// that the key is not set. A nil Config has no keys.
	Config func(ctx context.Context, key string) (json.RawMessage, error)

	KV        KV        // nil: kv_get, kv_set and kv_delete are not offered
	Fetch     Fetch     // nil: http_fetch is not offered
	Connected Connected // nil: connected_request is not offered
}

// Limits bounds what passes between guest and host in one call. The engine
// bounds the rest.
type Limits struct {
	Input  int // bytes of the call's input, and of each answer
	Output int // bytes of the call's output, and of each request
	Log    int // bytes of all lines together
	HTTP   int // outgoing requests, those of nested calls included

	// Tx is how long, on the clock, guests may keep a transaction from its begin to
	// the end of the outermost of them.
	Tx time.Duration
}

// The limits of a call, and what no call may exceed.
var (
	DefaultLimits = Limits{Input: abi.DefaultInput, Output: abi.DefaultOutput, Log: abi.DefaultLog, HTTP: abi.DefaultHTTP, Tx: abi.DefaultTxMs * time.Millisecond}
	MaxLimits     = Limits{Input: abi.MaxInput, Output: abi.MaxOutput, Log: abi.MaxLog, HTTP: abi.MaxHTTP, Tx: abi.MaxTxMs * time.Millisecond}
)

// Within returns the smaller of both limits where both are given.
func (l Limits) Within(m Limits) Limits {
	return Limits{
		Input: least(l.Input, m.Input), Output: least(l.Output, m.Output),
		Log: least(l.Log, m.Log), HTTP: least(l.HTTP, m.HTTP), Tx: least(l.Tx, m.Tx),
	}
}

// Or returns l with the zero fields taken from d.
func (l Limits) Or(d Limits) Limits {
	return Limits{
		Input: cmp.Or(l.Input, d.Input), Output: cmp.Or(l.Output, d.Output),
		Log: cmp.Or(l.Log, d.Log), HTTP: cmp.Or(l.HTTP, d.HTTP), Tx: cmp.Or(l.Tx, d.Tx),
	}
}

func least[T int | time.Duration](a, b T) T {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// State is what the host keeps about one call of a guest. It belongs to the
// goroutine that runs the call, and is over with Free.
type State struct {
	plugin *Plugin
	limits Limits
	call   *method.Call
	caller *identity.Caller // in the plugin's frame; nil until it is needed
	raised *identity.Caller // the same, whom document calls act as
	engine engine.Call
	base   context.Context // of the call, without its deadline

	input  []byte
	output []byte // nil: none
	answer []byte // of the latest capability
	taken  int    // how much of answer the guest has had
	logged int    // bytes of log lines

	outer       *State // of the call it is nested in
	fetched     int    // outgoing requests, those of nested calls included
	transaction *transaction
	joined      transaction // its own, unless it is nested
	timed       bool        // its deadline is the transaction's
	opening     *opening    // under way, before the transaction begins
	record      *Tape       // takes down what the host answers
	replay      *Tape       // answers in place of the host

	work    work
	perform func() // work.do, bound once
}

// keep is how large a buffer may be to be used again.
const keep = 256 << 10

var states = sync.Pool{New: func() any {
	st := &State{}
	st.perform = st.work.do
	return st
}}

// New makes the state of a call. The input must stay as it is until Free.
func New(p *Plugin, call *method.Call, input []byte) *State {
	st := states.Get().(*State)
	st.plugin, st.limits, st.call, st.input = p, p.Limits, call, input
	st.outer, _ = call.PluginCall.(*State)
	st.join(st.outer)
	return st
}

// framed is the caller in the plugin's frame, whatever frame the call came from.
func (st *State) framed() *identity.Caller {
	if st.caller == nil {
		st.caller = st.call.Caller.In(st.plugin.Frame)
	}
	return st.caller
}

// acting is whom document calls act as.
func (st *State) acting() *identity.Caller {
	if st.raised == nil {
		st.raised = st.framed()
		if st.plugin.Grants.Has(Elevated) {
			c := *st.raised
			c.Elevated = true
			st.raised = &c
		}
	}
	return st.raised
}

// Limit lowers what the plugin may pass in this call. Zero fields change nothing.
func (st *State) Limit(l Limits) { st.limits = st.limits.Within(l) }

// Free ends the state. What Output returned stays valid.
func (st *State) Free() {
	answer := st.answer[:0]
	if cap(answer) > keep {
		answer = nil
	}
	*st = State{answer: answer, perform: st.perform}
	states.Put(st)
}

// Output is what the guest sent as its result; nil when it sent nothing.
func (st *State) Output() []byte { return st.output }

// stateKey finds the state of the guest call that a context belongs to.
type stateKey struct{}

// From returns the state of the guest call in which ctx was made, or nil. The
// events of a document that a guest writes find their guest this way.
func From(ctx context.Context) *State {
	st, _ := ctx.Value(stateKey{}).(*State)
	return st
}

// Call is the method call that the guest serves.
func (st *State) Call() *method.Call { return st.call }

// Run runs an export of the module in this state, within limits. Where the call
// is nested in another guest's, as its method.Call or ctx tells, it shares what
// that one has left of time and CPU. The error is the engine's.
func (st *State) Run(ctx context.Context, m *engine.Module, export string, limits engine.Limits) (engine.Usage, error) {
	if outer := From(ctx); st.outer == nil && outer != nil {
		st.outer = outer
		st.join(outer)
	}
	st.engine = engine.Call{
		Export: export, Arg: int32(len(st.input)), Limits: limits, State: st, Party: st.plugin.Site, OnOutput: printed,
	}
	if st.record != nil || st.replay != nil || st.call.Tx != nil {
		st.engine.Senses = senses{st}
	}
	if st.outer != nil {
		st.engine.Parent = &st.outer.engine
	}
	outer := st.call.PluginCall
	st.call.PluginCall = st
	defer func() { st.call.PluginCall = outer }()
	st.base = context.WithValue(ctx, stateKey{}, st)
	if st.outer == nil {
		st.enter()
	}
	st.engine.Due = st.transaction.held.due()
	usage, err := m.Call(st.base, &st.engine)
	if st.outer == nil {
		err = st.exit(err)
	}
	return usage, err
}

// of returns the state of an engine call; nil while a guest initialises itself.
func of(c *engine.Call) *State {
	if c.Warm() {
		return nil
	}
	st, _ := c.State.(*State)
	return st
}
