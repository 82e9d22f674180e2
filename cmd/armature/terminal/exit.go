package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"syscall"

	"armature/core/fault"
	"armature/core/site"
)

// The codes the program ends with. A script can tell from them whether to mend its
// command line, to do without, to ask for a right, or to try again later.
const (
	CodeFailed      = 1 // what none of the others says
	CodeMisuse      = 2 // the command line, the environment or the configuration file is wrong
	CodeNotFound    = 3 // what was named is not there
	CodeRefused     = 4 // it is there, and a rule, a right or its state forbids it
	CodeUnreachable = 5 // a server, a database or a host does not answer: later it may
)

// ExitError ends the process with the code of a program that has said why.
type ExitError struct{ Code int }

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// misuse is an error of who wrote the command line.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse makes an error of a wrong command line.
func Misuse(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// AsMisuse says of an error that the command line is what is wrong; nil stays nil.
func AsMisuse(err error) error {
	if err == nil {
		return nil
	}
	return misuse{err}
}

// Code is what the process ends with for an error.
func Code(err error) int {
	var ended ExitError
	var answered interface{ HTTPStatus() int }
	var f *fault.Error
	var wrong misuse
	var away net.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.Code
	case errors.As(err, &wrong):
		return CodeMisuse
	case errors.As(err, &answered):
		return ofStatus(answered.HTTPStatus())
	case errors.As(err, &f):
		return ofStatus(f.Status())
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist), errors.Is(err, site.ErrWrongMaster), errors.Is(err, syscall.EADDRINUSE):
		return CodeRefused
	case errors.As(err, &away), errors.Is(err, context.DeadlineExceeded):
		return CodeUnreachable
	}
	return CodeFailed
}

// ofStatus is the code for an answer over HTTP.
func ofStatus(status int) int {
	switch {
	case status == http.StatusNotFound:
		return CodeNotFound
	case status >= 400 && status < 500:
		return CodeRefused
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return CodeUnreachable
	}
	return CodeFailed
}
