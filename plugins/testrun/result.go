package testrun

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"armature/core/fault"
	"armature/runtime/engine"
)

// Result is how a test went.
type Result struct {
	File    string        `json:"file"`
	Line    int           `json:"line,omitempty"` // where the test is in it; 0: that is not known
	Test    string        `json:"test,omitempty"` // empty: the file cannot be run
	Skipped bool          `json:"skipped,omitempty"`
	Error   string        `json:"error,omitempty"` // empty: it passes
	Trace   []string      `json:"trace,omitempty"` // innermost first
	Log     []string      `json:"log,omitempty"`   // lines
	Took    time.Duration `json:"-"`
}

// Failed reports whether the test failed.
func (r Result) Failed() bool { return r.Error != "" }

// explain says why a test failed in the words of somebody who wrote it.
func (r *Result) explain(err error) {
	var e *engine.Error
	if !errors.As(err, &e) {
		r.Error = err.Error()
		return
	}
	f := e.Fault()
	r.Error, r.Trace = message(f), f.Trace
	switch {
	case r.Error == "":
		r.Error = "something without a message was thrown"
	case f.Type == "PromiseNeverSettledError":
		r.Error = "the test waits for a promise that nothing will settle"
	case e.Reason == engine.OutOfFuel:
		r.Error = fmt.Sprintf("the test has used up its processor time, which is that of %d calls: an endless loop?", callsPerTest)
	case e.Reason == engine.Deadline:
		r.Error = "the test has used up its time"
	}
}

// Refused is the result of a file of scripts' tests whose plugin cannot be built or
// installed.
func Refused(f File, err error) Result {
	shown, rerr := filepath.Rel(f.Root, f.Path)
	if rerr != nil {
		shown = f.Path
	}
	return refusal(shown, err)
}

// refusal is the result of a file that cannot be run.
func refusal(file string, err error) Result {
	r := Result{File: file, Error: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		r.Error, r.Trace = f.Message, f.Trace
	}
	var e *engine.Error
	if errors.As(err, &e) && (e.Reason == engine.OutOfFuel || e.Reason == engine.Deadline) {
		r.Error = "the file is never done with what is at its top level, or in what it imports: an endless loop?"
	}
	return r
}

// message is an error with its type, where that says more than that something was
// thrown.
func message(f *fault.Error) string {
	text := f.Message
	if f.Kind == fault.Internal && f.Err != nil { // hidden from clients, not from authors
		text = strings.TrimPrefix(f.Err.Error(), f.ExcType()+": ")
	}
	if f.Type == "" && f.Kind == fault.Trap {
		return text
	}
	return f.ExcType() + ": " + text
}
