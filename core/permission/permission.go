// Package permission decides what the rules of a DocType allow a caller. It
// knows no documents: it is given rules and a caller and says yes, no, or "only
// what the caller owns".
package permission

import (
	"iter"
	"slices"

	"armature/core/identity"
	"armature/core/query"
)

// Right is one thing a rule can allow.
type Right uint16

// The rights of a DocPerm row.
const (
	Select Right = 1 << iota
	Read
	Write
	Create
	Delete
	Submit
	Cancel
	Amend
	Report
	Export
	Import
	Share
	Print
	Email
)

// names lists the rights in the order of their bits, by DocPerm field name.
var names = [...]string{
	"select", "read", "write", "create", "delete", "submit", "cancel",
	"amend", "report", "export", "import", "share", "print", "email",
}

// Names returns the DocPerm field name of every right.
func Names() []string { return names[:] }

// ParseRight returns the right with the given DocPerm field name.
func ParseRight(name string) (Right, bool) {
	for i, n := range names {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// String is the DocPerm field name of a single right.
func (r Right) String() string {
	for i, n := range names {
		if r == 1<<i {
			return n
		}
	}
	return "rights"
}

// Rule is one DocPerm row: what a role may do at a permission level.
type Rule struct {
	Role    string
	Level   int // 0: the document; n > 0: the fields of that level
	IfOwner bool
	Rights  Right

	// Condition is what documents must meet for the rule to hold, as it was
	// written and as a tree; nil: nothing.
	Text      string
	Condition query.Expr
}

// Access is the answer for one right at level 0.
type Access uint8

// The answers, weakest first.
const (
	None    Access = iota // refused
	Limited               // allowed on the caller's own documents, or on those that meet a condition
	Full                  // allowed
)

// For returns what the rules allow the caller with regard to one right. Rights
// of all matching rows are OR-ed: a row without limits wins over one with them.
func For(rules []Rule, caller *identity.Caller, right Right) Access {
	if caller.Unchecked() {
		return Full
	}
	best := None
	for r := range Of(rules, caller, right) {
		if !r.LimitsOwner(right) && r.Condition == nil {
			return Full
		}
		best = Limited
	}
	return best
}

// Of calls yield for every rule that gives the caller the right on documents.
func Of(rules []Rule, caller *identity.Caller, right Right) iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		for i := range rules {
			r := &rules[i]
			if r.Level == 0 && r.Rights&right != 0 && caller.HasRole(r.Role) && !yield(r) {
				return
			}
		}
	}
}

// Conditional reports whether some rule asks for more of a document than who
// owns it, which a change of the document may end.
func Conditional(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Condition != nil })
}

// LimitsOwner reports whether the rule gives the right on the caller's own
// documents only. Create never is so limited, since nothing is owned yet.
func (r *Rule) LimitsOwner(right Right) bool { return r.IfOwner && right != Create }

// Levels is the set of permission levels, 0 to 9, as bits.
type Levels uint16

// AllLevels holds every level.
const AllLevels Levels = 1<<10 - 1

// Has reports whether the level is in the set.
func (l Levels) Has(level int) bool { return level >= 0 && level < 10 && l&(1<<level) != 0 }

// LevelsFor returns the levels at which the rules give the caller the right.
func LevelsFor(rules []Rule, caller *identity.Caller, right Right) Levels {
	if caller.Unchecked() {
		return AllLevels
	}
	var set Levels
	for i := range rules {
		r := &rules[i]
		if r.Rights&right != 0 && r.Level >= 0 && r.Level < 10 && caller.HasRole(r.Role) {
			set |= 1 << r.Level
		}
	}
	return set
}
