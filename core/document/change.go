package document

import "armature/core/fault"

// ErrNoPosition is that a Position is none of the database as it is now: of another
// one, or of a later state of it than the one that was restored.
var ErrNoPosition = fault.New(fault.BadRequest, "", "This is no position in the log of changes")

// Change is something that a committed transaction has done, as the log of changes
// tells those who follow it: a document that it wrote, or a message that it sent.
type Change struct {
	DocType string // of the document; empty: it is a message
	Name    string // of the document, empty: any of the DocType; or the topic of the message
	For     string // of a message: the one user it is for; empty: all who may hear it
	Data    []byte // of a message: JSON
}

// Position is a moment in the order in which transactions were committed, as text of
// the database's own. A process may use one that another process was given.
type Position string

// Changes is what has been committed since a Position.
type Changes struct {
	Position Position // up to which they go
	Versions Versions // at that moment
	Since    int64    // from when on changes have been logged without a break, Unix time in milliseconds
	List     []Change // in the order of their transactions, as far as that shows
	TooMany  bool     // there are so many that List holds only some: anything may have changed
}
