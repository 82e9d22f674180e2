package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"armature/core/fault"
	"armature/core/site"
)

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
	case errors.Is(err, syscall.EADDRINUSE):
		text += "\nhint: another server has the port; --listen takes another one, and with port 0 a free one"
	case errors.Is(err, fs.ErrPermission):
		text += "\nhint: run as the user who owns the data folder"
	}
	return text
}

// Fail tells of the error that ended the program: a person on standard error, or a
// program as a line of JSON there, so that standard output holds results alone.
func (t *Terminal) Fail(err error) {
	text := Explain(err)
	if !t.JSON {
		fmt.Fprintln(t.Stderr, "armature:", text)
		return
	}
	message, hint, _ := strings.Cut(text, "\nhint: ")
	failed := struct {
		Code    int    `json:"exit_code"`
		Type    string `json:"exc_type,omitempty"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{Code(err), "", message, hint}
	var typed interface{ ExcType() string } // a fault, or what a server elsewhere answered
	if errors.As(err, &typed) {
		failed.Type = typed.ExcType()
	}
	_ = (&Terminal{Stdout: t.Stderr}).PrintJSON(failed) // nothing is left to tell it to
}
