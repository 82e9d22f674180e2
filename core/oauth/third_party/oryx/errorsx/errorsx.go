// Package errorsx is what fosite uses of github.com/ory/x/errorsx.
package errorsx

// WithStack returns err. The original notes where it was called; nobody reads
// that here, and it costs more than the error.
func WithStack(err error) error { return err }

// Cause returns the error at the bottom of a chain of Cause methods.
func Cause(err error) error {
	for err != nil {
		wrapped, ok := err.(interface{ Cause() error })
		if !ok || wrapped.Cause() == nil {
			break
		}
		err = wrapped.Cause()
	}
	return err
}

// An error may carry one of these about the answer it becomes.
type (
	// StatusCodeCarrier has the HTTP status.
	StatusCodeCarrier interface{ StatusCode() int }
	// RequestIDCarrier has the id of the request.
	RequestIDCarrier interface{ RequestID() string }
	// ReasonCarrier has what was wrong.
	ReasonCarrier interface{ Reason() string }
	// DebugCarrier has what only developers should see.
	DebugCarrier interface{ Debug() string }
	// StatusCarrier has the text of the HTTP status.
	StatusCarrier interface{ Status() string }
	// DetailsCarrier has more.
	DetailsCarrier interface{ Details() map[string]any }
)
