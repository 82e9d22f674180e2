package access

import (
	"iter"
	"slices"

	"armature/core/doctype"
	"armature/core/identity"
)

// Right is one thing a rule can allow.
type Right = doctype.Right

// The rights of a DocPerm row.
const (
	Select = doctype.SelectRight
	Read   = doctype.ReadRight
	Write  = doctype.WriteRight
	Create = doctype.CreateRight
	Delete = doctype.DeleteRight
	Submit = doctype.SubmitRight
	Cancel = doctype.CancelRight
	Amend  = doctype.AmendRight
	Report = doctype.ReportRight
	Export = doctype.ExportRight
	Import = doctype.ImportRight
	Share  = doctype.ShareRight
	Print  = doctype.PrintRight
	Email  = doctype.EmailRight
)

// Extent is how far the rules of roles give one right on the documents of a
// DocType.
type Extent uint8

// The extents, smallest first.
const (
	None    Extent = iota // refused
	Limited               // on the caller's own documents, or on those that meet a condition
	Full                  // on every document
)

// ByRole returns how far rules give the caller a right. Rights of all matching
// rows are OR-ed: a row without limits wins over one with them.
func ByRole(rules []doctype.Rule, caller *identity.Caller, right Right) Extent {
	if caller.Unchecked() {
		return Full
	}
	best := None
	for r := range giving(rules, caller, right) {
		if !limitsOwner(r, right) && r.Condition == nil {
			return Full
		}
		best = Limited
	}
	return best
}

// giving calls yield for every rule that gives the caller the right on documents.
func giving(rules []doctype.Rule, caller *identity.Caller, right Right) iter.Seq[*doctype.Rule] {
	return func(yield func(*doctype.Rule) bool) {
		for i := range rules {
			r := &rules[i]
			if r.Level == 0 && r.Rights&right != 0 && caller.HasRole(r.Role) && !yield(r) {
				return
			}
		}
	}
}

// conditional reports whether some rule asks for more of a document than who
// owns it, which a change of the document may end.
func conditional(rules []doctype.Rule) bool {
	return slices.ContainsFunc(rules, func(r doctype.Rule) bool { return r.Condition != nil })
}

// limitsOwner reports whether a rule gives the right on the caller's own documents
// only. Create never is so limited, since nothing is owned yet.
func limitsOwner(r *doctype.Rule, right Right) bool { return r.IfOwner && right != Create }

// Levels is the set of permission levels, 0 to 9, as bits.
type Levels uint16

// AllLevels holds every level.
const AllLevels Levels = 1<<10 - 1

// Has reports whether the level is in the set.
func (l Levels) Has(level int) bool { return level >= 0 && level < 10 && l&(1<<level) != 0 }

// LevelsFor returns the levels at which rules give the caller the right.
func LevelsFor(rules []doctype.Rule, caller *identity.Caller, right Right) Levels {
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

// levels are those at which the caller has the right on fields of documents that
// the caller may see or change: the first always is.
func (r *Rights) levels(dt *doctype.DocType, right Right) Levels {
	return LevelsFor(dt.Permissions, r.Caller, right) | 1
}
