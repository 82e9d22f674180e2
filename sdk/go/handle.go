package armature

import "armature/sdk/go/internal/raw"

// None is the argument of a method that takes none, or the result of one that
// has nothing to say (null for the client).
type None = struct{}

// Handle runs one call: n is what the export was given, the length of the
// input in bytes. It decodes the input as In, calls method and sends the result,
// or throws the error. Input that does not decode is a FrameworkTypeError of
// KindValidation. A panic in method is not caught: Go prints it with its stack
// to standard error, which is the server's log, and the call is a trap.
func Handle[In, Out any](n int32, method func(In) (Out, error)) {
	var in In
	if err := readInput(n, &in); err != nil {
		Throw(err)
	}
	out, err := method(in)
	if err != nil {
		Throw(err)
	}
	if err := writeOutput(out); err != nil {
		Throw(err)
	}
}

// Event is the input of an event handler. Doc is the document as it is about to
// be written; Before is the stored one, nil when there is none yet. What the
// handler returns is merged into the document: a Doc with the fields to set, or
// None.
type Event[T any] struct {
	Event  string `json:"event"`
	Doc    T      `json:"doc"`
	Before *T     `json:"before"`
}

// Throw ends the call with err and does not return; the transaction is rolled
// back. It is for places from which an error cannot be returned: deferred calls
// do not run. An error that is or wraps an *Error keeps its kind, type and
// message. Any other becomes KindInternal: its text is logged and not shown to
// the client.
func Throw(err error) {
	e := asError(err)
	raw.Throw(int32(e.Kind), appendError(scratch.answer[:0], e))
}

// readInput decodes the call's input of n bytes into v.
func readInput(n int32, v any) error {
	if _, ok := v.(*None); ok {
		return nil
	}
	b := scratch.answer[:]
	if int(n) > len(b) {
		b = make([]byte, n)
	}
	if full := raw.Input(b); full < n {
		n = full
	}
	if err := decode(b[:n], v); err != nil {
		return &Error{KindValidation, "FrameworkTypeError", "Invalid arguments: " + err.Error()}
	}
	return nil
}

// writeOutput encodes v as the call's result. Without any output
// the result is null, so nothing needs to be sent for None.
func writeOutput(v any) error {
	if _, ok := v.(None); ok {
		return nil
	}
	b, err := encode(scratch.answer[:0], v)
	if err != nil {
		return &Error{KindInternal, "", "encode result: " + err.Error()}
	}
	raw.Output(b)
	return nil
}
