package doctype

import "armature/core/query"

// Right is one thing a DocPerm row can allow, or several of them as bits. What a
// caller may do with a document follows from more than rights: core/access says.
type Right uint16

// The rights of a DocPerm row.
const (
	SelectRight Right = 1 << iota
	ReadRight
	WriteRight
	CreateRight
	DeleteRight
	SubmitRight
	CancelRight
	AmendRight
	ReportRight
	ExportRight
	ImportRight
	ShareRight
	PrintRight
	EmailRight
)

// rightNames lists the rights in the order of their bits, by DocPerm field name.
var rightNames = [...]string{
	"select", "read", "write", "create", "delete", "submit", "cancel",
	"amend", "report", "export", "import", "share", "print", "email",
}

// RightNames returns the DocPerm field name of every right.
func RightNames() []string { return rightNames[:] }

// ParseRight returns the right with the given DocPerm field name.
func ParseRight(name string) (Right, bool) {
	for i, n := range rightNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// String is the DocPerm field name of a single right.
func (r Right) String() string {
	for i, n := range rightNames {
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

	// Broken is why the condition as it is stored cannot be read; such a rule has
	// no rights.
	Broken error
}
