package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
	"armature/core/trace"
	"armature/plugins/meter"
	"armature/plugins/replay"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// export is one function of a guest at work for a site.
type export struct {
	*guest
	name   string // of the export
	label  string // what it is counted and logged as: a method's path, or an event
	manual bool   // tx manual
	calls  *meter.Calls
}

func (g *guest) export(label, name string) *export {
	return &export{guest: g, name: name, label: label, calls: g.site.cfg.Meter.Of(g.plugin.Name, label)}
}

// call runs the export for a call of a method and returns its output, which is
// nil or valid JSON.
func (x *export) call(ctx context.Context, call *method.Call, input []byte) ([]byte, error) {
	cfg := &x.site.cfg
	limits, bounds := x.limits, x.plugin.Limits
	if cfg.SiteLimits != nil {
		of := cfg.SiteLimits()
		limits, bounds = limits.Min(engineLimits(of)), bounds.Within(trafficLimits(of))
	}
	if len(input) > bounds.Input {
		return nil, fault.New(fault.TooLarge, "", "The arguments are over %d bytes, the limit of %s", bounds.Input, x.plugin.Name)
	}
	if cfg.Budget != nil {
		if err := cfg.Budget.Allowed(ctx, x.plugin.Name); err != nil {
			return nil, err
		}
	}
	st := hostapi.New(&x.plugin, call, input)
	st.Limit(bounds)
	if x.manual || call.Key != "" { // nobody waits for a deferred call, so it keeps nobody waiting
		st.ReadOutside(cfg.Services().Store)
	}
	var tape *hostapi.Tape
	if cfg.Record != nil && cfg.Record() {
		tape = &hostapi.Tape{}
		st.Record(tape)
	}
	var span trace.Span
	if trace.Of(ctx) != nil {
		ctx, span = trace.Start(ctx, trace.Internal, "guest "+x.label)
	}
	usage, err := st.Run(ctx, x.module, x.name, limits)
	if span != nil {
		x.endSpan(span, usage, err)
	}
	if cfg.Budget != nil {
		cfg.Budget.Charge(ctx, x.plugin.Name, cpu(usage.Fuel-min(usage.Fuel, usage.Nested)))
	}
	output := st.Output()
	st.Free()
	kept := x.replayable(limits, usage, err)
	if err != nil {
		err = failure(err)
	} else if output != nil && (!utf8.Valid(output) || !json.Valid(output)) {
		if x.foreign {
			output, err = extismResult(x.name, output)
		} else {
			err = fault.New(fault.Trap, "", "%s: the output is not JSON", x.name)
		}
	}
	if again(err) {
		return nil, err // the store or the platform runs the call once more
	}
	last(call, func() {
		x.calls.Done(usage, err)
		x.tally.Done(err)
		if err == nil {
			return
		}
		x.log(call, usage, err)
		if tape != nil && tape.Whole() {
			c := x.record(call, input, tape, replay.OutcomeOf(output, usage, err))
			c.Limits, c.Traffic = kept, bounds
			c.Mask(passwords(call.Documents))
			cfg.Failed(c)
		}
	})
	if err == nil {
		return output, nil
	}
	return nil, x.located(err)
}

// last calls fn once the call's transaction is not run again, so that of a run
// that lost a race nothing is counted, logged or recorded.
func last(call *method.Call, fn func()) {
	if call.Tx == nil {
		fn()
		return
	}
	call.Tx.SideEffects().Last(fn)
}

// located puts the plugin, its version and the export outside the guest's
// frames, so that a trace says whose code it shows. Nested calls add theirs.
func (x *export) located(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Trace) == 0 {
		return err
	}
	out := *f
	out.Trace = append(slices.Clip(f.Trace), fmt.Sprintf("plugin %s %s, export %s", x.plugin.Name, x.version, x.name))
	return &out
}

func (x *export) endSpan(span trace.Span, usage engine.Usage, err error) {
	span.Set("armature.plugin", x.plugin.Name)
	span.Set("armature.plugin.version", x.version)
	span.Set("armature.fuel", int64(min(usage.Fuel, math.MaxInt64)))
	if err == nil {
		span.End("")
		return
	}
	span.End(fault.From(failure(err)).ExcType())
}

// again reports whether a call ended only to be run once more.
func again(err error) bool {
	if err == nil || errors.Is(err, document.ErrReadOnly) {
		return err != nil
	}
	var f *fault.Error
	return !errors.As(err, &f)
}

// log writes a line about a call that failed. What a plugin refuses is its
// everyday business; what it fails in is its author's to mend.
func (x *export) log(call *method.Call, usage engine.Usage, err error) {
	f := fault.From(err)
	level := slog.LevelWarn
	switch f.Kind {
	case fault.Validation, fault.Authentication, fault.Permission, fault.NotFound, fault.Conflict, fault.Gone, fault.BadRequest:
		level = slog.LevelInfo
	}
	attrs := []slog.Attr{
		slog.String("site", x.plugin.Site), slog.String("plugin", x.plugin.Name), slog.String("version", x.version),
		slog.String("method", x.label), slog.String("user", call.Caller.User),
		slog.String("type", f.ExcType()), slog.String("error", f.Error()),
		slog.Uint64("fuel", usage.Fuel), slog.Duration("duration", usage.Wall),
	}
	if call.Request != nil {
		attrs = append(attrs, slog.String("request", call.Request.ID))
	}
	if len(f.Trace) > 0 {
		attrs = append(attrs, slog.Any("trace", f.Trace))
	}
	x.plugin.Logger.LogAttrs(context.Background(), level, "plugin call failed", attrs...)
}

// passwords are the names of all fields of a site that hold passwords.
func passwords(documents *document.Service) []string {
	if documents == nil {
		return nil
	}
	var names []string
	for dt := range documents.Schema().All {
		for _, f := range dt.Fields {
			if f.IsPassword() {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// replayable are the limits with which a call ends where it has ended. One that has
// used up its time before its fuel, which depends on the machine, gets as much fuel
// as it has used.
func (x *export) replayable(limits engine.Limits, usage engine.Usage, err error) engine.Limits {
	var e *engine.Error
	if errors.As(err, &e) && e.Reason == engine.OutOfFuel && usage.Fuel < x.module.Limits(limits).Fuel {
		limits.Fuel = usage.Fuel - min(usage.Fuel, usage.Nested)
	}
	return limits
}

func (x *export) record(call *method.Call, input []byte, tape *hostapi.Tape, outcome replay.Outcome) *replay.Call {
	birth := x.module.Birth()
	c := &replay.Call{
		Site: x.plugin.Site, Plugin: x.plugin.Name, Version: x.version, Hash: x.hash,
		Method: x.label, Export: x.name, User: call.Caller.User, At: time.Now().UTC(),
		Birth: &birth, Input: string(input), Tape: tape, Outcome: outcome,
	}
	if call.Request != nil {
		c.Request = call.Request.ID
	}
	return c
}
