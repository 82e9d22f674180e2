package document

import (
	"context"
	"errors"

	"armature/core/doctype"
)

// ErrReadOnly is returned by every writing method of a Tx that only reads. The
// edge answers it by running the request again with a writer.
var ErrReadOnly = errors.New("this transaction only reads")

// ErrRollback, returned by the function given to Store.Write, rolls back
// without being an error: Write returns nil. A GET that writes ends so.
var ErrRollback = errors.New("roll back")

// ErrLost, returned by a OneWrite function, says that somebody else changed the
// row between its read and its write. The store runs the function again as a
// GroupedTx one, where Get with lock keeps others out.
var ErrLost = errors.New("the row changed between its read and its write")

// ErrUnmet says that a write did not happen because a document it needs does
// not exist.
var ErrUnmet = errors.New("a document that the write needs does not exist")

// Mode says what a writing function promises, so that the store can pick the
// cheapest way to run it.
type Mode uint8

const (
	// PluginTx is OwnTx for a function in which code of plugins may run: it waits for
	// its turn behind those that promise to run none.
	PluginTx Mode = iota
	// OwnTx takes a transaction of its own for as long as the function runs. It
	// begins at the first call of the Tx, so a function that never touches
	// documents never takes a writer.
	OwnTx
	// GroupedTx promises no code of plugins and no network: the store may commit several
	// functions together. If that commit fails, all of them fail.
	GroupedTx
	// OneWrite promises, beyond GroupedTx, at most one writing call of the Tx, after
	// all reads: it needs no transaction where one statement suffices.
	OneWrite
)

// Store keeps documents. core/store satisfies it for SQLite and PostgreSQL with
// the same answers from both. It checks no rights and no field rules: Service
// does, and nobody else calls a Store with a caller's data.
//
// Errors it returns are faults where a client can tell the difference (Missing,
// DuplicateEntryError, UniqueValidationError, Unavailable when the database is
// away or a lock wait ran out).
type Store interface {
	// Read runs fn with a Tx whose writing methods return ErrReadOnly. Each
	// statement sees what is committed.
	Read(ctx context.Context, fn func(Tx) error) error

	// View runs fn with a Tx that only reads, as Read does, but all its statements
	// see what was committed at one moment, that of the first. fn may run more
	// than once. A View holds a connection from its first statement on, unless its
	// history is of asking once: then it is run again if it asks a second time. nil: it
	// has none.
	View(ctx context.Context, history *ViewHistory, fn func(Tx) error) error

	// Write runs fn and commits what it wrote when fn returns nil. fn may run
	// more than once (serialization failure, deadlock, busy): it must have no
	// effect outside the Tx except through Tx.AfterCommit and Tx.SideEffects.
	Write(ctx context.Context, mode Mode, fn func(Tx) error) error

	// Versions reads the site's two version numbers in one cheap statement; it is
	// polled, and read by requests whose copy is older than 500 ms.
	Versions(ctx context.Context) (Versions, error)

	// Ping reports whether the database answers.
	Ping(ctx context.Context) error

	// Close waits for running transactions and closes the database.
	Close() error
}

// Versions are the numbers by which processes that share a database learn that
// what they cached is stale.
type Versions struct {
	Schema int64 // grows with every change of a DocType
	Epoch  int64 // grows with every change of credentials, roles, configuration, plugins
}

// Tx is a transaction, or for Store.Read a view. It belongs to one goroutine.
type Tx interface {
	// OnBegin has fn called when the transaction begins to keep others from
	// writing, at once if it does already, in place of the fn given before; nil:
	// nobody is called. In mode PluginTx it will wait for its turn with others of the
	// party. A view and a shared transaction keep nobody.
	OnBegin(party string, fn func(*Hold))

	// Get reads one document with its child rows; Missing when there is none.
	// With lock the row stays locked until the transaction ends. The DocTypes of
	// child rows come from sc.
	Get(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string, lock bool) (*doctype.Document, error)

	// Lock locks those of the documents that there are until the transaction ends,
	// in the order of their names: who locks what several writes are about so before
	// the first of them never waits in a circle. Where one writes at a time it does nothing.
	Lock(ctx context.Context, dt *doctype.DocType, names []string) error

	// AppendDocument reads one document and appends it to dst as a JSON object
	// (see AppendRow for its form), without building a Document. check sees the
	// row's values in the order of dt.Columns before anything is appended; the
	// slice is only valid during the call. Child rows come from sc.
	AppendDocument(ctx context.Context, dst []byte, sc *doctype.Schema, dt *doctype.DocType, name string, view doctype.View,
		check func(values []any) error) ([]byte, error)

	// AppendRows runs a list and appends the rows to dst, separated by commas:
	// JSON objects in the order of the columns, or arrays. It returns how many.
	AppendRows(ctx context.Context, dst []byte, sel *doctype.Select, asArrays bool) ([]byte, int, error)

	// Rows runs a list and hands each row's canonical values to fn; the slice
	// is only valid during the call.
	Rows(ctx context.Context, sel *doctype.Select, fn func(values []any) error) error

	// Count counts the rows a list would have without paging.
	Count(ctx context.Context, sel *doctype.Select) (int64, error)

	// Absent returns those of names that no document of dt has.
	Absent(ctx context.Context, dt *doctype.DocType, names []string) ([]string, error)

	// Insert stores a new document with its child rows, if every document in
	// needs exists; ErrUnmet, and nothing stored, if one does not. A taken name
	// is a DuplicateEntryError, a taken unique value a UniqueValidationError.
	Insert(ctx context.Context, doc *doctype.Document, needs ...Need) error

	// Update stores the values of doc in the given columns, and replaces the
	// given child tables, where the stored modified equals expect ("": any) and
	// every document in needs exists. It reports false, and writes nothing, where
	// it does not or the document is gone. The DocTypes of child rows come from
	// sc; without tables it may be nil.
	Update(ctx context.Context, sc *doctype.Schema, doc *doctype.Document, columns, tables []*doctype.Field, expect string, needs ...Need) (bool, error)

	// UpdateIf sets values where the document exists and every expected value
	// is stored, and reports whether it did: for what must be spent exactly
	// once. Keys are field names, values canonical.
	UpdateIf(ctx context.Context, dt *doctype.DocType, name string, expect, set map[string]any) (bool, error)

	// Delete removes a document and its child rows and reports whether there
	// was one.
	Delete(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType, name string) (bool, error)

	// Replace sets one field of every document that meets where, and returns how
	// many there were; modified stays. A value taken already is the fault of Insert.
	Replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, where doctype.Where, value any) (int64, error)

	// Next returns the next value of a named counter, from 1. Where transactions
	// run beside each other the counter takes no part in this one, so that those
	// who count do not wait for each other: a value is given back when the
	// transaction fails, and lost, a gap, when another was taken since.
	Next(ctx context.Context, counter string) (int64, error)

	// Return gives the last value of a counter back once the transaction has
	// committed, unless another was taken since.
	Return(ctx context.Context, counter string, value int64) error
	// MoveCounters gives the counters whose names begin with from names that begin with
	// to, where they take the place of those that are there.
	MoveCounters(ctx context.Context, from, to string) error

	// Savepoint runs fn; an error undoes what fn wrote and leaves the
	// transaction usable.
	Savepoint(ctx context.Context, fn func() error) error

	// Migrate creates the table of a DocType, or brings the one that is there
	// to the definition. Columns are added, never dropped; indexes come and go
	// with the fields that ask for them. The definition's own documents are
	// stored by the caller in the same transaction. A table that others do not
	// leave within half a minute is Unavailable, and nothing has changed.
	Migrate(ctx context.Context, dt *doctype.DocType) error

	// BumpSchema makes every process reload the DocTypes after commit and
	// returns the new version.
	BumpSchema(ctx context.Context) (int64, error)

	// KeepSchema returns the version of the DocTypes that this transaction finds,
	// and keeps others from committing a change of them before it has ended: for
	// what must know of all DocTypes, those that another process has just made
	// included. A change that is under way is not waited for.
	KeepSchema(ctx context.Context) (int64, error)

	// BumpEpoch makes every process forget what it knows of keys, roles,
	// sessions, configuration and plugins after commit.
	BumpEpoch(ctx context.Context) error

	// Publish has a message told, once the transaction has committed, to those who
	// listen to its topic then. It is not kept for those who come later.
	Publish(ctx context.Context, m Change) error

	// Pause lets go of the moment of a View before a wait for the network: what is
	// read afterwards is of a later one. It does nothing to any other Tx.
	Pause(ctx context.Context) error

	// SideEffects is what this run of the function does besides the Tx.
	SideEffects() *SideEffects

	// AfterCommit runs fn once the transaction is durable, never otherwise.
	AfterCommit(fn func())
}

// Need is a document that must exist for a write to happen: what a link names.
// The database checks it in the statement that writes, which costs no round
// trip and leaves no moment between the check and the write.
type Need struct {
	DocType *doctype.DocType
	Name    string
}
