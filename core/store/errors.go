package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
)

// class is what an error of a database means, whichever database it is.
type class uint8

const (
	other     class = iota
	duplicate       // a unique value is taken; what says which
	again           // the transaction lost a race and may be run again
	another         // a view asks again, and was to ask once: it needs a transaction
	redrawn         // a name is taken that was drawn: another may be
	raced           // a unique value is taken, perhaps by one who won a race
	lockBusy        // DDL did not get its lock in time
	busy            // another holds the lock, and went on holding it
	lost            // the connection broke; what was not committed is undone
	away            // the database cannot be reached or cannot write
	full            // no room is left on its disk
	frozen          // it may only be read
	tooLong         // a statement ran into the database's own time limit
	badValue        // a value the column cannot hold
	tooWide         // text longer than the column
	stalePlan       // the table changed under a prepared statement
)

// overRead is what of a transaction that lost over something it had only read.
const overRead = "read"

// diagnosis is an error understood. what is the constraint's column or name.
type diagnosis struct {
	class class
	what  string
}

// errTwice tells the author of a OneWrite function that its promise is broken.
var errTwice = errors.New("store: a second write in a function that promised one (document.OneWrite)")

// errBusy ends a wait for the writer, or for a transaction, that took too long.
func errBusy() error {
	return fault.New(fault.Unavailable, "", "The database is busy with other writes; try again")
}

// explain turns an error of a database into a fault a client understands.
// dt and name say which document it was about; both may be empty.
func (s *Store) explain(err error, dt *doctype.DocType, name string) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch d := s.diagnose(err); d.class {
	case duplicate:
		return duplicateFault(err, dt, name, d.what)
	case again:
		return fault.Wrap(fault.Unavailable, "", err, "The document was changed by others at the same time; try again")
	case lockBusy, busy:
		return fault.Wrap(fault.Unavailable, "", err, "The database is busy; try again")
	case lost, away:
		return fault.Wrap(fault.Unavailable, "", err, "The database is not available; try again later")
	case full:
		s.fullAt.Store(time.Now().UnixNano())
		return fault.Full(err, "The disk of the database is full; nothing can be saved until there is room again")
	case frozen:
		return fault.Wrap(fault.Unavailable, "", err, "The database can only be read now; nothing can be saved")
	case tooLong:
		return fault.Wrap(fault.Timeout, "", err, "The database took too long")
	case badValue:
		return fault.Wrap(fault.Validation, "", err, "A number or date is outside what can be stored or computed")
	case tooWide:
		return fault.Wrap(fault.Validation, "CharacterLengthExceededError", err, "A value has more characters than its field can store")
	}
	return err
}

func duplicateFault(err error, dt *doctype.DocType, name, what string) error {
	if dt == nil {
		return fault.Wrap(fault.Conflict, "", err, "%s already exists", name)
	}
	for _, f := range dt.Columns {
		if f.Name == dt.NamingField() {
			continue // the field is the name: taken is taken, whichever index says so
		}
		if f.Unique && (what == f.Column || what == uniqueIndexName(dt, f)) {
			return fault.Wrap(fault.Validation, "UniqueValidationError", err, "%s must be unique", f.Label)
		}
	}
	return fault.Wrap(fault.Conflict, "DuplicateEntryError", err, "%s %s already exists", dt.Name, name)
}

// fullFor is how long after a failure for want of room a database counts as full.
const fullFor = 10 * time.Second

// Full reports whether a write has just failed because the disk of the database is
// full. Who stops writing is not told: after ten seconds it is tried again.
func (s *Store) Full() bool {
	at := s.fullAt.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < fullFor
}

// diagnose asks the engine first and then knows what is common to all drivers.
func (s *Store) diagnose(err error) diagnosis {
	if d := s.backend.diagnose(err); d.class != other {
		return d
	}
	var network net.Error
	switch {
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return diagnosis{class: lost}
	}
	return diagnosis{}
}

// checkText refuses what one of the databases cannot store and the other would
// store as something no client can read: NUL and bytes that are not UTF-8.
func checkText(args []any) error {
	for _, arg := range args {
		if s, ok := arg.(string); ok && !storable(s) {
			return fault.Invalid("", "A value contains characters that cannot be stored")
		}
	}
	return nil
}

func missing(dt *doctype.DocType, name string) error {
	return fault.Missing("%s %s not found", dt.Name, strings.ToValidUTF8(name, "\ufffd"))
}
