package doctype

import (
	"errors"

	"armature/core/query"
)

// Select is a resolved list: every name has become a field of a DocType the
// caller may read, every value is canonical for its field.
type Select struct {
	DocType *DocType
	Joins   []Join
	Columns []Column
	Where   Where // nil: every row
	Order   []OrderBy
	Group   []Operand
	Start   int
	Length  int // 0: all

	// MaxBytes is how many bytes AppendRows may append; one more is ErrTooManyBytes.
	// 0: no bound.
	MaxBytes int
}

// ErrTooManyBytes is that rows are longer than the Select allows.
var ErrTooManyBytes = errors.New("doctype: the rows are longer than the select allows")

// Join brings in another table: the document a link field points at, or the
// rows of a child table. Join n is named by Operand.Join n+1. What does not meet
// On is not there: the columns of the join are then null.
type Join struct {
	Via    *Field // Link field or table field of the base DocType
	Target *DocType
	On     Where // of the joined row, whose columns are operands of this join; nil: every row
}

// Operand is a column of the base (Join 0) or of a joined table.
type Operand struct {
	Join  int
	Field *Field
}

// Column is one output column.
type Column struct {
	Operand
	Func query.Func // aggregate; Field nil then means count(*)
	Key  string     // key in the row
}

// OrderBy is one sort key: an operand, or the output column Alias.
type OrderBy struct {
	Operand
	Alias string
	Desc  bool
}

// Where is a resolved filter: AllOf, AnyOf, Compare or Some.
type Where interface{ where() }

// AllOf holds when every part holds.
type AllOf []Where

// AnyOf holds when one part holds; empty: never.
type AnyOf []Where

// Compare is one comparison. Op is one of Eq, Ne, Lt, Gt, Le, Ge, Like, NotLike
// (Value canonical), In, NotIn (Value []any), Is (Value bool: set), Between
// (Value [2]any, inclusive). Null rules are those of the reference, section
// 1.10: null counts as empty text, zero or the earliest date where that makes
// the comparison true.
type Compare struct {
	Operand
	Op    query.Op
	Value any
}

// Some holds when a row of Target whose Key equals Of meets Where, whose own
// operands are the columns of Target; with Not, when none does.
type Some struct {
	Not    bool
	Of     Operand
	Target *DocType
	Key    *Field
	Where  Where  // nil: every such row
	Via    *Field // the table field whose rows they are; nil: they are documents
	Begin  bool   // a store may begin with the rows: they are thought to be few

	// Below is the link by which documents of Target point at the one above them: those
	// that meet Where are meant, and all that stand below them. Nil: no others are.
	Below *Field
}

func (AllOf) where() {}

func (Some) where() {}

func (AnyOf) where() {}

func (Compare) where() {}
