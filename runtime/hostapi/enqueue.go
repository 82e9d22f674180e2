package hostapi

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// century bounds how far away a job may be.
const century = 100 * 366 * 24 * time.Hour

// enqueue has another method run after the request, in a transaction of its own, as
// the same caller in the plugin's frame. core/method applies the rules of who may call
// it now and again then.
func enqueue(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Method   string          `json:"method"`
		Args     json.RawMessage `json:"args"`
		Delay    float64         `json:"delay_s"`
		RunAt    string          `json:"run_at"`
		Unique   string          `json:"unique"`
		Attempts int             `json:"attempts"`
	}
	if err := decode(abi.Enqueue, request, &in); err != nil {
		return nil, err
	}
	if err := need(abi.Enqueue, "method", in.Method); err != nil {
		return nil, err
	}
	if args := bytes.TrimSpace(in.Args); len(args) > 0 && args[0] != '{' && string(args) != "null" {
		return nil, fault.New(fault.BadRequest, "", "%s: args is not an object", abi.Enqueue)
	}
	if string(in.Args) == "null" {
		in.Args = nil
	}
	at, err := runAt(in.Delay, in.RunAt)
	if err != nil {
		return nil, err
	}
	if st.call.Methods == nil {
		return nil, missing(abi.Enqueue)
	}
	if !method.Reads(st.call.Verb) {
		st.begin()
	}
	id, err := st.call.Methods.Defer(ctx, st.call, method.Deferred{
		Path: in.Method, Args: in.Args, Caller: st.framed(), At: at, Unique: in.Unique, Attempts: in.Attempts,
	})
	if err != nil {
		return nil, err
	}
	dst = append(dst, `{"job":`...)
	return append(doctype.AppendString(dst, id), '}'), nil
}

// runAt is when a job may run: after so many seconds, or at a time; zero: at once.
func runAt(delay float64, text string) (at time.Time, err error) {
	switch {
	case delay != 0 && text != "":
		return at, fault.New(fault.BadRequest, "", "%s: delay_s or run_at, not both", abi.Enqueue)
	case math.IsNaN(delay) || delay < 0 || delay > century.Seconds():
		return at, fault.New(fault.BadRequest, "", "%s: delay_s is from 0 to %d", abi.Enqueue, int64(century.Seconds()))
	case delay > 0:
		return time.Now().Add(time.Duration(delay * float64(time.Second))), nil
	case text == "":
		return at, nil
	}
	at, err = time.Parse(time.RFC3339, text)
	if err != nil || at.After(time.Now().Add(century)) || at.Year() < 1970 {
		return at, fault.New(fault.BadRequest, "", "%s: run_at is a time with its zone (RFC 3339), such as 2030-01-31T06:00:00Z", abi.Enqueue)
	}
	return at, nil
}
