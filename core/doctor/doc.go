// Package doctor examines a site: whether its database is whole, whether tables,
// rows, links, files and secrets are what the DocTypes say, whether names and
// formats are those of this binary, and whether archives are made.
//
// A check looks at one subject and yields findings. It reads only; what is safe to
// repair a finding says, and brings the way with it: nothing that somebody has
// written is deleted or changed by a repair.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"armature/core/backup"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/migration"
	"armature/core/store"
)

// Patient is the site that is examined.
type Patient struct {
	Store   *store.Store
	Schema  *doctype.Schema
	Private []*doctype.DocType // tables that belong to no DocType of the schema
	Files   *file.Service
	Sealer  document.Sealer
	Sealed  []Sealed // what services seal for themselves
	Backups backup.Run
	Now     time.Time

	// Configured reports what of the site's configuration its key does not open; nil:
	// nothing in it is sealed.
	Configured func() error

	// Passkeys says of passkeys that the address of the site has left behind; nil: there
	// are none.
	Passkeys func(ctx context.Context) ([]string, error)

	// Letters says which settings need letters that the site cannot send; nil: none.
	Letters func() []string

	State   migration.State
	Format  int64             // of this binary
	Shipped *doctype.Schema   // the DocTypes of this binary
	Taken   func(string) bool // names that the platform keeps for later
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Check    string `json:"check"`
	Subject  string `json:"subject"` // a table, a field, a DocType, a file
	Message  string `json:"message"`
	Note     bool   `json:"note"`       // worth knowing, and as somebody wants it
	Safe     bool   `json:"repairable"` // --repair mends it
	Repaired bool   `json:"repaired"`

	repair func(ctx context.Context) error
}

// Check is an examination of one subject.
type Check struct {
	Name string
	run  func(ctx context.Context, p *Patient, find func(Finding)) error
}

// Checks lists the examinations in the order in which they make sense.
func Checks() []Check {
	return []Check{
		{"integrity", integrity},
		{"versions", versions},
		{"names", names},
		{"tables", tables},
		{"rows", rows},
		{"links", links},
		{"secrets", secrets},
		{"passkeys", passkeys},
		{"files", files},
		{"backups", backups},
		{"letters", letters},
		{"outgoing", outgoing},
	}
}

// Examine runs a check, and where repair is set mends what is safe to mend.
func (c Check) Examine(ctx context.Context, p *Patient, repair bool) ([]Finding, error) {
	list := []Finding{}
	err := c.run(ctx, p, func(f Finding) {
		f.Check, f.Safe = c.Name, f.repair != nil
		list = append(list, f)
	})
	slices.SortStableFunc(list, func(a, b Finding) int { return strings.Compare(a.Subject, b.Subject) })
	if err != nil {
		return list, fmt.Errorf("check %s: %w", c.Name, err)
	}
	for i := range list {
		if f := &list[i]; repair && f.Safe {
			if err := f.repair(ctx); err != nil {
				return list, fmt.Errorf("repair %s: %w", f.Subject, err)
			}
			f.Repaired = true
		}
	}
	return list, nil
}
