package migration

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
)

// Plan is what one binary knows of formats.
type Plan struct {
	Migrations []Migration // ascending numbers; the last one is the binary's format
	Shipped    Shipped
}

// Migration leads to a format from the one before.
type Migration struct {
	Number int64
	Title  string // for the log and the command line
	Reader int64  // the lowest format whose binaries may use the site afterwards
	Steps  []Step // they run after the binary's DocTypes were installed
}

// Step is one part of a migration. Run is called with the cursor it returned last,
// at first with none, until it returns none; each call has a transaction of its own
// and should take well under a second. A process that was killed goes on with the
// last cursor, and never repeats a call that was committed.
type Step struct {
	Name string
	Run  func(ctx context.Context, w World, cursor string) (next string, err error)
}

// World is what a step may use.
type World struct {
	Tx     document.Tx
	Schema *doctype.Schema // after the binary's DocTypes were installed
}

// Shipped is what a binary brings to every site.
type Shipped interface {
	// Version names all of it: another text, another Install.
	Version() (string, error)
	// Tables are the tables that belong to no DocType of the schema.
	Tables() []*doctype.DocType
	// Install brings the site's DocTypes and records to what this binary ships, in
	// transactions made by write. Withheld are those it left out because the site
	// has some of its own under these names: the next opening tries again.
	Install(ctx context.Context, write func(context.Context, func(document.Tx) error) error) (schema *doctype.Schema, withheld []string, err error)
	// Load reads the schema of a site as it is.
	Load(ctx context.Context) (*doctype.Schema, error)
}

// Format is the format of the binary.
func (p Plan) Format() int64 { return p.last().Number }

func (p Plan) last() Migration {
	if len(p.Migrations) == 0 {
		return Migration{}
	}
	return p.Migrations[len(p.Migrations)-1]
}

// after lists what a site of a format still needs.
func (p Plan) after(format int64) []Migration {
	for i, m := range p.Migrations {
		if m.Number > format {
			return p.Migrations[i:]
		}
	}
	return nil
}
