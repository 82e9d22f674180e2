package armature

import "errors"

// Error is a failure of a call: what the host reports, and what a method returns
// to fail in a way its client can understand.
type Error struct {
	Kind    Kind
	Type    string // the client's exc_type; empty means the kind's own
	Message string // shown to the client, except for KindInternal
}

// Error is the type and the message.
func (e *Error) Error() string {
	name := e.Type
	if name == "" {
		name = e.Kind.String()
	}
	if e.Message == "" {
		return name
	}
	return name + ": " + e.Message
}

// Invalid makes a ValidationError: a rule of the plugin refuses the request
// (HTTP 417).
func Invalid(message string) error { return &Error{Kind: KindValidation, Message: message} }

// Denied makes a PermissionError: the caller may not do this (HTTP 403).
func Denied(message string) error { return &Error{Kind: KindPermission, Message: message} }

// NotFound makes a DoesNotExistError (HTTP 404).
func NotFound(message string) error { return &Error{Kind: KindNotFound, Message: message} }

// KindOf is the kind of err: that of the *Error it is or wraps, 0 for nil,
// KindInternal for any other.
func KindOf(err error) Kind {
	if err == nil {
		return 0
	}
	return asError(err).Kind
}

// asError finds the *Error in err, or makes one that does not show err's text to
// the client.
func asError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e) && e != nil && e.Kind.Valid():
		return e
	case e != nil:
		return &Error{KindInternal, e.Type, e.Message}
	case err == nil || any(err) == any((*Error)(nil)):
		return &Error{Kind: KindInternal, Message: "nil error thrown"}
	}
	return &Error{Kind: KindInternal, Message: err.Error()}
}

func appendError(b []byte, e *Error) []byte {
	name := e.Type
	if name == "" {
		name = e.Kind.String()
	}
	b = append(b, `{"exc_type":`...)
	b = appendString(b, name)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Message)
	return append(b, '}')
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k >= KindInternal && int(k) < len(kindNames) }

// String is the exc_type used when an error names none.
func (k Kind) String() string {
	if !k.Valid() {
		return kindNames[KindInternal]
	}
	return kindNames[k]
}
