// Package fault is the platform's one error type.
//
// A fault has a kind (a small number from which the HTTP status and the ABI
// code follow), a type (the exc_type a client sees), a message that may be
// shown to the caller, and a cause that is only logged. Errors that are not
// faults are bugs or broken dependencies: they become Internal, and their text
// stays in the log.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Error is what every layer returns for a failure it understands.
type Error struct {
	Kind    Kind
	Type    string // exc_type; empty means the kind's default
	Message string // may be shown to the caller
	Err     error  // cause, for the log only

	// Trace holds the frames of a guest's stack, innermost first. Host frames
	// never go in: they would tell a caller about the server, not about their
	// code.
	Trace []string
	// Title is the heading clients show above the message, when there is one.
	Title string
	// Quiet errors never carry a trace (CSRF and DocType permission failures).
	Quiet bool
}

// Error returns the type, the message and the cause, for logs.
func (e *Error) Error() string {
	s := e.ExcType()
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExcType is the exc_type a client sees.
func (e *Error) ExcType() string {
	if e.Type != "" {
		return e.Type
	}
	return e.Kind.ExcType()
}

// Is makes errors.Is compare kind and type, so that callers can test for
// fault.New(fault.NotFound, "", "") without knowing the message.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Kind == e.Kind && t.ExcType() == e.ExcType()
}

// New makes a fault. An empty type means the kind's default.
func New(kind Kind, excType, format string, args ...any) *Error {
	return &Error{Kind: kind, Type: excType, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes a Validation fault of the given exc_type (417).
func Invalid(excType, format string, args ...any) *Error {
	return New(Validation, excType, format, args...)
}

// Denied makes a PermissionError (403).
func Denied(format string, args ...any) *Error {
	return New(Permission, "", format, args...)
}

// Missing makes a DoesNotExistError (404).
func Missing(format string, args ...any) *Error {
	return New(NotFound, "", format, args...)
}

// Wrap makes a fault of the given kind around a cause.
func Wrap(kind Kind, excType string, err error, format string, args ...any) *Error {
	e := New(kind, excType, format, args...)
	e.Err = err
	return e
}

// From returns err as a fault. A deadline becomes Timeout, a cancelled request
// Unavailable, anything unknown Internal with a general message, so that
// nothing of the inside reaches a client by accident.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(Timeout, "", err, "The request took too long")
	case errors.Is(err, context.Canceled):
		return Wrap(Unavailable, "", err, "The request was cancelled")
	case NoRoom(err):
		return diskFull(err)
	}
	return Wrap(Internal, "", err, "Something went wrong on the server")
}

// KindOf is the kind of err: 0 for nil, Internal when it is not a fault.
func KindOf(err error) Kind {
	if err == nil {
		return 0
	}
	return From(err).Kind
}
