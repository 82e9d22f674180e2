package hostapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// Tape is what the host told one call of a guest, in order: with the call's
// input it is all that the call depended on.
type Tape struct {
	Answers []Answer `json:"answers"`

	size int
	full bool
	next int // replay: the answer whose turn it is
}

// Answer is one answer of the host.
type Answer struct {
	Import  string `json:"import"`
	Request []byte `json:"request,omitempty"`
	Answer  []byte `json:"answer,omitempty"` // of random: the bytes
	Time    int64  `json:"time,omitempty"`   // of now
	Error   *Error `json:"error,omitempty"`
}

// Error is an answer that is none.
type Error struct {
	Kind    fault.Kind `json:"kind"`
	Type    string     `json:"exc_type,omitempty"`
	Message string     `json:"message,omitempty"`
	Ends    bool       `json:"ends,omitempty"` // the call, whatever the guest would do about it
}

// maxTape bounds what is recorded of one call, in bytes.
const maxTape = 16 << 20

// Record has the call take down on the tape what the host tells it.
func (st *State) Record(t *Tape) { st.record = t }

// Replay has the tape answer in place of the host. The call reaches nothing and
// fails as soon as it asks for something else than it did when it was recorded.
func (st *State) Replay(t *Tape) { st.replay = t }

// Whole reports whether everything was taken down; a call that was told too much
// cannot be repeated.
func (t *Tape) Whole() bool { return !t.full }

func (t *Tape) add(a Answer) {
	t.size += len(a.Request) + len(a.Answer) + 64
	t.full = t.full || t.size > maxTape
	if t.full {
		t.Answers = nil
		return
	}
	t.Answers = append(t.Answers, a)
}

func (t *Tape) answered(name string, request, answer []byte, err error) {
	a := Answer{Import: name, Request: bytes.Clone(request)}
	if err == nil {
		a.Answer = bytes.Clone(answer)
	} else {
		a.Error = errorOf(err)
	}
	t.add(a)
}

func errorOf(err error) *Error {
	_, ends := err.(ending)
	var f *fault.Error
	if errors.Is(err, document.ErrReadOnly) || !errors.As(err, &f) {
		f, ends = fault.From(err), true
	}
	return &Error{Kind: f.Kind, Type: f.Type, Message: f.Message, Ends: ends}
}

// turn is the answer whose turn it is.
func (t *Tape) turn(name string, request []byte) (*Answer, error) {
	if t.next >= len(t.Answers) {
		return nil, ending{fault.New(fault.Trap, "", "replay: the guest calls %s after everything it called when it was recorded", name)}
	}
	a := &t.Answers[t.next]
	if a.Import != name || !bytes.Equal(a.Request, request) {
		return nil, ending{fault.New(fault.Trap, "", "replay: call %d of the guest is %s with %.200q, it was %s with %.200q", t.next+1, name, request, a.Import, a.Request)}
	}
	t.next++
	return a, nil
}

// repeat answers a capability from the tape.
func (st *State) repeat(name string, request []byte) error {
	a, err := st.replay.turn(name, request)
	if err != nil {
		return err
	}
	st.answer = append(st.answer[:0], a.Answer...)
	if a.Error == nil {
		return nil
	}
	f := &fault.Error{Kind: a.Error.Kind, Type: a.Error.Type, Message: a.Error.Message}
	if a.Error.Ends {
		return ending{f}
	}
	return f
}

func (st *State) repeatTime(c *engine.Call) int64 {
	a, err := st.replay.turn(abi.Now, nil)
	if err != nil {
		c.Abort(err.(ending).error)
	}
	return a.Time
}

func (st *State) repeatRandom(c *engine.Call, b []byte) {
	a, err := st.replay.turn(abi.Random, nil)
	switch {
	case err != nil:
		c.Abort(err.(ending).error)
	case len(a.Answer) != len(b):
		c.Abort(fault.New(fault.Trap, "", "replay: the guest asks for %d random bytes, it was %d", len(b), len(a.Answer)))
	}
	copy(b, a.Answer)
}

// Rerun runs an export as it was run when the tape was recorded: with the same
// input and limits, and the tape in place of everything it reached. The error is
// the engine's.
func Rerun(ctx context.Context, m *engine.Module, export string, input []byte, limits engine.Limits, traffic Limits, t *Tape) ([]byte, engine.Usage, error) {
	st := New(&Plugin{Limits: traffic}, &method.Call{Verb: http.MethodPost, Caller: identity.Anonymous()}, input)
	defer st.Free()
	st.Replay(t)
	usage, err := st.Run(ctx, m, export, limits)
	return st.Output(), usage, err
}
