package dispatch

import (
	"errors"

	"armature/core/document"
	"armature/core/fault"
	"armature/runtime/engine"
)

// failure turns what the engine reports into what the rest of the platform
// understands: a fault with the guest's frames as its trace. Errors with which a
// host function ended the call for reasons of the host, such as a write in a
// transaction that only reads, come out as they went in.
func failure(err error) error {
	var e *engine.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Reason == engine.Aborted {
		if errors.Is(e.Err, document.ErrReadOnly) {
			return document.ErrReadOnly
		}
		var f *fault.Error
		if !errors.As(e.Err, &f) {
			return e.Err
		}
	}
	f := e.Fault()
	if f.Kind == fault.Internal && e.Reason != engine.Aborted {
		f.Err, f.Message = err, "Something went wrong on the server"
	}
	return f
}
