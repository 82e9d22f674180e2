package fault

import (
	"errors"
	"net/http"
	"syscall"
)

// InsufficientStorage is the exc_type of what could not be kept because there is
// no room for it: status 507 (RFC 4918, section 11.5). Its kind is Unavailable: the
// same request may succeed when there is room again.
const InsufficientStorage = "InsufficientStorageError"

// QuotaExceeded is the exc_type of what would be more than the operator lets the
// site have. Of kind Validation, for what would be kept, it has status 507: the same
// request succeeds when something was deleted, or the operator gives more. Of kind
// TooManyRequests, for requests at a time, it has that kind's, and Retry-After.
const QuotaExceeded = "QuotaExceededError"

// Status is the HTTP status of the fault.
func (e *Error) Status() int {
	if e.Kind == Unavailable && e.Type == InsufficientStorage || e.Kind == Validation && e.Type == QuotaExceeded {
		return http.StatusInsufficientStorage
	}
	return e.Kind.Status()
}

// Full makes a fault of what found no room.
func Full(err error, format string, args ...any) *Error {
	return Wrap(Unavailable, InsufficientStorage, err, format, args...)
}

// Unstored makes a fault of what could not be written to a disk: of one that is
// full where that was the reason, and else Unavailable with the given message.
func Unstored(err error, format string, args ...any) *Error {
	if NoRoom(err) {
		return diskFull(err)
	}
	return Wrap(Unavailable, "", err, format, args...)
}

func diskFull(err error) *Error {
	return Full(err, "The disk of the server is full; nothing can be saved until there is room again")
}

// NoRoom reports whether an operating system refused to write because a disk, a
// quota or what a process may write is used up.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
