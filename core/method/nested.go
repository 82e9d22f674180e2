package method

import (
	"context"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/notice"
)

// MaxDepth is how deep calls may be nested: a method that calls itself ends
// here and not in the machine's memory.
const MaxDepth = 8

// Nested runs a method for another one: as the caller of that one, in the frame of
// the plugin whose it is, which a method of a plugin leaves for its own, with the same verb,
// in the same transaction, inside a savepoint, so that an error the parent
// catches leaves nothing of what the nested call wrote. Every rule of Run is
// applied again.
//
// Errors: those of Run; ResourceExhaustedError beyond MaxDepth.
func (s *Service) Nested(ctx context.Context, parent *Call, caller *identity.Caller, path string, args Args) (Result, error) {
	if parent.Depth >= MaxDepth {
		return Result{}, fault.New(fault.Exhausted, "", "Methods are nested more than %d deep", MaxDepth)
	}
	f, err := s.find(parent.pin, path)
	if err != nil {
		return Result{}, err
	}
	defer f.release()
	if err := admit(f.method, parent.Verb, caller); err != nil {
		return Result{}, err
	}
	if f.method.Plugin != "" {
		caller = caller.In(nil) // its own frame is put around it where it runs
	}
	call := &Call{
		Method: f.method, Verb: parent.Verb, Caller: caller, Tx: parent.Tx, Args: args,
		Documents: parent.Documents, Methods: s, Request: parent.Request,
		Parent: parent, Depth: parent.Depth + 1, PluginCall: parent.PluginCall, Key: parent.Key,
		pin: f.pin, reader: parent.reader,
	}
	told := notice.Of(ctx)
	mark := told.Mark()
	res, err := nest(ctx, call)
	if err != nil {
		told.Back(mark) // as what it wrote
		return Result{}, err
	}
	return res, nil
}

func nest(ctx context.Context, call *Call) (res Result, err error) {
	if call.reader || call.Tx == nil {
		return perform(ctx, call)
	}
	err = call.Tx.Savepoint(ctx, func() error {
		res, err = perform(ctx, call)
		return err
	})
	return res, err
}
