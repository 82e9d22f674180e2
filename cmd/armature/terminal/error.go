package terminal

import (
	"errors"
	"fmt"
	"io/fs"

	"armature/core/fault"
	"armature/core/site"
)

// ExitError ends the process with the code of a program that has said why.
type ExitError struct{ Code int }

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// Explain is what a person reads of an error: a fault without its type and
// cause, and for the common mistakes what to do about them.
func Explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Message != "" {
		if f.Kind == fault.Unavailable && f.Err != nil {
			return f.Message + "\ncause: " + f.Err.Error() // which this reader can do something about
		}
		return f.Message
	}
	text := err.Error()
	switch {
	case errors.Is(err, site.ErrWrongMaster):
		text += "\nhint: use the secret.key or ARMATURE_SECRET_KEY that this data was made with"
	case errors.Is(err, fs.ErrPermission):
		text += "\nhint: run as the user who owns the data folder"
	}
	return text
}
