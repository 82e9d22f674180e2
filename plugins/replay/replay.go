// Package replay keeps a failed call with everything it depended on, and runs it
// again.
//
// A call of a guest is a function of its module, its input, its limits and what
// the host answered: documents, time and random numbers. With those it can be
// repeated on another machine, without the site.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"armature/core/fault"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// Call is a call that failed.
type Call struct {
	Site    string    `json:"site"`
	Plugin  string    `json:"plugin"`
	Version string    `json:"version"`
	Hash    string    `json:"hash"` // of the bundle
	Method  string    `json:"method"`
	Export  string    `json:"export"`
	User    string    `json:"user"`
	Request string    `json:"request,omitempty"`
	At      time.Time `json:"at"`

	Birth   *engine.Birth  `json:"birth,omitempty"` // of the module, of which its state at the start is made
	Input   string         `json:"input"`           // JSON, byte for byte
	Limits  engine.Limits  `json:"limits"`
	Traffic hostapi.Limits `json:"traffic"`
	Tape    *hostapi.Tape  `json:"tape"`

	Outcome Outcome `json:"outcome"`
	Masked  bool    `json:"masked,omitempty"` // stars stand in place of secrets
}

// Outcome is how a call ended.
type Outcome struct {
	Output  string     `json:"output,omitempty"`
	Kind    fault.Kind `json:"kind,omitempty"` // of the error; 0: none
	Type    string     `json:"exc_type,omitempty"`
	Message string     `json:"message,omitempty"`
	Trace   []string   `json:"trace,omitempty"` // frames of the guest
	Fuel    uint64     `json:"fuel"`            // without nested calls, which a replay does not make
}

// OutcomeOf describes the end of a call; err is a fault or nil.
func OutcomeOf(output []byte, usage engine.Usage, err error) Outcome {
	o := Outcome{Output: string(output), Fuel: usage.Fuel - min(usage.Fuel, usage.Nested)}
	var f *fault.Error
	if errors.As(err, &f) {
		o.Kind, o.Type, o.Message, o.Trace = f.Kind, f.ExcType(), f.Message, f.Trace
	} else if err != nil {
		o.Kind, o.Message = fault.Internal, err.Error()
	}
	return o
}

// Same reports whether two calls ended alike, after as many instructions.
func (o Outcome) Same(p Outcome) bool {
	return o.Output == p.Output && o.Kind == p.Kind && o.Type == p.Type && o.Message == p.Message && o.Fuel == p.Fuel
}

// Again runs the call on the module it was made with.
func (c *Call) Again(ctx context.Context, m *engine.Module) Outcome {
	output, usage, err := hostapi.Rerun(ctx, m, c.Export, []byte(c.Input), c.Limits, c.Traffic, c.Tape)
	return OutcomeOf(output, usage, err)
}

// Read reads a call that was written as JSON.
func Read(path string) (*Call, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c Call
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.Tape == nil || c.Export == "" {
		return nil, fmt.Errorf("%s: this is no recorded call", path)
	}
	c.Mask(nil) // of a record that was kept with secrets
	return &c, nil
}
