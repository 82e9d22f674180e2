package method

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Letter is what is to be sent: to each of To a letter of its own.
type Letter struct {
	To          []string
	Subject     string
	Text        string
	Template    string         // name of an Email Template, in place of Subject and Text
	Values      map[string]any // put into the template
	Attachments []string       // URLs of files
}

// Mailer sends letters. *letter.Service satisfies it.
type Mailer interface {
	// Send has letters sent if tx is committed, as the caller, and returns the jobs that
	// do. Errors are faults: Validation, Permission, NotFound, TooLarge, TooManyRequests.
	Send(ctx context.Context, tx document.Tx, caller *identity.Caller, l Letter) (jobs []string, err error)
}

// Mail has letters sent, if the transaction of the method that parent is has committed.
// A request that reads leaves nothing behind, so nothing is sent there.
//
// Errors: those of Mailer, and NotImplemented where nobody sends letters.
func (s *Service) Mail(ctx context.Context, parent *Call, caller *identity.Caller, l Letter) (jobs []string, err error) {
	switch {
	case s.mail == nil:
		return nil, fault.New(fault.NotImplemented, "", "This server sends no letters")
	case parent.Tx == nil:
		return nil, fault.New(fault.Unavailable, "", "This call has no transaction")
	case Reads(parent.Verb):
		return nil, nil
	}
	return s.mail.Send(ctx, parent.Tx, caller, l)
}
