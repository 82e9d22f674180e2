package method

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/notice"
	"armature/core/trace"
)

// Run finds the method an invocation names, checks that the caller may call it
// and runs it in one transaction: committed before Run returns where the verb
// writes, never where it reads.
//
// Errors: ValidationError for a path that names nothing, PermissionError for
// one that is not whitelisted or not for this caller or verb, and whatever the
// method returns.
func (s *Service) Run(ctx context.Context, in Invocation) (Result, error) {
	f, err := s.findFor(in.Caller, in.Within, s.Canonical(in.Path))
	if err != nil {
		return Result{}, err
	}
	defer f.release()
	if err := admit(f.method, in.Verb, in.Caller); err != nil {
		return Result{}, err
	}
	r := &run{service: s, found: f, in: in}
	if trace.Of(ctx) == nil {
		return r.byVerb(ctx)
	}
	ctx, span := trace.Start(ctx, trace.Internal, "method "+f.method.Path)
	res, err := r.byVerb(ctx)
	if err != nil {
		span.End(fault.From(err).ExcType())
		return res, err
	}
	span.End("")
	return res, nil
}

// Admits returns the error with which Run would turn the caller away.
func (s *Service) Admits(path, verb string, caller *identity.Caller) error {
	f, err := s.findFor(caller, nil, s.Canonical(path))
	if err != nil {
		return err
	}
	defer f.release()
	return admit(f.method, verb, caller)
}

// run is one invocation, which may take several attempts: a reader first, then
// a writer, and the store may ask for a serialization failure to be tried
// again. Every attempt starts with a fresh Call.
type run struct {
	service *Service
	found   found
	in      Invocation
	trial   *document.Trial // of the reader, which the writer goes on with
	res     Result          // of the latest attempt

	key  string                                                      // of a deferred call
	done func(ctx context.Context, tx document.Tx, res Result) error // ends its transaction; nil: it is none
}

// byVerb ends the transaction as the verb wants it (DESIGN section 3): what a
// GET wrote is rolled back. A GET gets a reader until it turns out to write.
func (r *run) byVerb(ctx context.Context) (Result, error) {
	if !Reads(r.in.Verb) {
		return r.write(ctx, nil)
	}
	if r.found.method.Writes {
		return r.write(ctx, document.ErrRollback)
	}
	res, err := r.read(ctx)
	if errors.Is(err, document.ErrReadOnly) {
		return r.write(ctx, document.ErrRollback)
	}
	return res, err
}

func (r *run) read(ctx context.Context) (Result, error) {
	err := r.service.store.View(ctx, &r.found.method.habit, func(tx document.Tx) error { return r.attempt(ctx, tx, true) })
	return r.res, err
}

// write runs the method in a transaction of its own. end is nil to commit, or
// document.ErrRollback.
func (r *run) write(ctx context.Context, end error) (Result, error) {
	ctx = document.WithParty(ctx, r.found.method.Path)
	err := r.service.store.Write(ctx, document.PluginTx, func(tx document.Tx) error {
		if err := r.attempt(ctx, tx, false); err != nil {
			return err
		}
		if r.done != nil {
			return r.done(ctx, tx, r.res)
		}
		return end
	})
	if err != nil {
		return Result{}, err
	}
	return r.res, nil
}

// attempt runs the method once. Its value becomes JSON here, so that one that
// has no JSON form fails the transaction instead of the answer.
func (r *run) attempt(ctx context.Context, tx document.Tx, reader bool) (err error) {
	if r.trial != nil {
		tx.SideEffects().Continue(r.trial)
	}
	if r.trial != nil && r.trial.Spent() {
		r.res = Result{}
		return fault.New(fault.Unavailable, "",
			"%s has already called out and is not run a second time", r.found.method.Path)
	}
	call := &Call{
		Method: r.found.method, Verb: r.in.Verb, Caller: r.in.Caller, Tx: tx, Args: r.in.Args.fresh(),
		Documents: r.service.documents, Methods: r.service, Request: r.in.Request,
		Key: r.key, pin: r.found.pin, reader: reader,
	}
	told := &notice.List{}
	r.res, err = perform(notice.With(ctx, told), call)
	r.res.Messages = told.All()
	if reader && errors.Is(err, document.ErrReadOnly) {
		r.trial = tx.SideEffects().Trial()
	}
	return err
}

// perform calls the method's function. A panic is a bug of the method, not the
// end of the server: it becomes an Internal fault with the stack for the log.
func perform(ctx context.Context, call *Call) (res Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = Result{}, fault.From(fmt.Errorf("%s panicked: %v\n%s", call.Method.Path, p, debug.Stack()))
		}
	}()
	if err := call.rehearses(ctx); err != nil {
		return Result{}, err
	}
	value, err := call.Method.Func(ctx, call)
	if err != nil {
		return Result{}, err
	}
	message, err := encode(value)
	if err != nil {
		return Result{}, fmt.Errorf("%s: result: %w", call.Method.Path, err)
	}
	res = Result{Message: message, Reply: call.Reply}
	call.nameUnknown()
	if len(call.Extra) > 0 {
		res.Extra, err = encode(call.Extra)
	}
	return res, err
}

// nameUnknown puts into the answer what the call's writes named and their DocTypes
// do not have.
func (c *Call) nameUnknown() {
	if c.Tx == nil || c.Parent != nil {
		return
	}
	if names := document.UnknownFields(c.Tx); len(names) > 0 {
		if c.Extra == nil {
			c.Extra = map[string]any{}
		}
		c.Extra[document.UnknownFieldsKey] = names
	}
}

// encode gives a value its JSON; nil has none.
func encode(value any) (json.RawMessage, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	case string:
		return doctype.AppendString(nil, v), nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // answers are JSON, never part of a page
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
