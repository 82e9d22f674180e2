package scripttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/plugins/bundle"
	"armature/plugins/script"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// Result is how a test went.
type Result struct {
	File    string        `json:"file"`
	Line    int           `json:"line,omitempty"` // where the test is in it
	Test    string        `json:"test,omitempty"` // empty: the file cannot be run
	Skipped bool          `json:"skipped,omitempty"`
	Error   string        `json:"error,omitempty"` // empty: it passes
	Trace   []string      `json:"trace,omitempty"` // innermost first
	Log     []string      `json:"log,omitempty"`   // lines
	Took    time.Duration `json:"-"`
}

// Failed reports whether the test failed.
func (r Result) Failed() bool { return r.Error != "" }

// Names of what the module of a file of tests exports.
const (
	listExport = "list"
	runExport  = "run"
)

// Run runs the tests of a file and tells of each when it is over. What is wrong
// with the file, or with the plugin it is about, is told in the same way; the error
// is ours, or that of ctx.
func (r *Runner) Run(ctx context.Context, f File, tell func(Result)) error {
	shown, err := filepath.Rel(f.Root, f.Path)
	if err != nil {
		shown = f.Path
	}
	r.plugin, r.loading = nil, nil
	said := tell
	tell = func(result Result) { // what was logged at the top level comes first
		result.Log, r.loading = append(r.loading, result.Log...), nil
		said(result)
	}
	refused := func(err error) { tell(refusal(shown, err)) }
	if f.Plugin != "" {
		b, err := bundle.Read(f.Plugin)
		if err != nil {
			refused(err)
			return nil
		}
		r.plugin = b.Manifest
	}
	s, err := script.ReadTest(f.Path, f.Main, f.Root)
	if err != nil {
		refused(err)
		return nil
	}
	m, err := r.engine.Load(ctx, bundle.Runnable(s))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		refused(err)
		return nil
	}
	defer m.Release()
	return r.each(ctx, m, s, shown, tell)
}

// noted is a test as the file has noted it.
type noted struct {
	Name    string `json:"name"`
	Skipped bool   `json:"skipped"`
	Stack   string `json:"stack"` // of the call of test
}

// place matches a place in the code in a stack.
var place = regexp.MustCompile(`script\.js:(\d+):(\d+)`)

// line is the line in which the author calls test; 0 if it cannot be told.
func (n noted) line(s *script.Script) int {
	at := place.FindStringSubmatch(n.Stack)
	if at == nil {
		return 0
	}
	row, _ := strconv.Atoi(at[1])
	column, _ := strconv.Atoi(at[2])
	p, _ := s.Source(row, column)
	return p.Line
}

func (r *Runner) each(ctx context.Context, m *engine.Module, s *script.Script, file string, tell func(Result)) error {
	text, err := r.call(ctx, m, listExport, nil, nil)
	var tests []noted
	if err == nil {
		err = json.Unmarshal(text, &tests)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the file has broken what it runs with
		tell(refusal(file, fmt.Errorf("the tests cannot be listed: %w", err)))
		return nil
	}
	if len(tests) == 0 {
		tell(Result{File: file, Error: `there is no test in it: import { test } from "armature:test", and call test(name, function)`})
	}
	imports := []string{} // what the grants of the plugin let it ask the host for
	if r.plugin != nil {
		imports = r.plugin.Imports()
	}
	for i, t := range tests {
		result := Result{File: file, Line: t.line(s), Test: t.Name, Skipped: t.Skipped}
		if !t.Skipped {
			start := time.Now()
			var lines logLines
			_, err := r.call(ctx, m, runExport, map[string]any{"index": i, "manifest": r.plugin, "imports": imports}, &lines)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			result.Took, result.Log = time.Since(start), lines
			if err != nil {
				result.explain(err)
			}
		}
		tell(result)
	}
	return nil
}

// call runs an export from the state after loading.
func (r *Runner) call(ctx context.Context, m *engine.Module, export string, input any, lines *logLines) ([]byte, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	r.begin()
	p := &hostapi.Plugin{Site: "test", Name: "test", Limits: hostapi.DefaultLimits, Config: r.answer}
	if lines != nil {
		p.Logger = slog.New(lines)
	}
	st := hostapi.New(p, &method.Call{Verb: "POST", Caller: identity.Root()}, text)
	defer st.Free()
	_, err = st.Run(ctx, m, export, r.limits())
	return st.Output(), err
}

// callsPerTest is how many calls' worth of time a test has: it makes some, and
// the host that answers them is in the same guest.
const callsPerTest = 10

// limits are those of a call of the plugin, with more time.
func (r *Runner) limits() engine.Limits {
	l := engine.DefaultLimits()
	if r.plugin != nil {
		own := r.plugin.Limits
		l = engine.Limits{
			Memory: uint64(own.Memory), Depth: own.Depth,
			Fuel: uint64(own.CPUMs) * (l.Fuel / defaultMs), Wall: time.Duration(own.WallMs) * time.Millisecond,
		}.Or(l)
	}
	l.Fuel *= callsPerTest
	return l
}

// defaultMs is how many milliseconds the engine's default fuel stands for.
const defaultMs = 100

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
