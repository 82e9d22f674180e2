// Package query is what a client asks of a list: fields, filters, order, page.
//
// Parse turns the arguments of a request into a Query, a tree that knows no
// SQL, no HTTP and no DocType: names are checked for their form only. Whether
// a field exists, what type it has and whether the caller may see it is decided
// by core/access, which resolves the tree against a DocType.
package query

// DefaultLength is the page length when none is asked for (SPEC: Limits).
const DefaultLength = 20

// Query is one list request.
type Query struct {
	Fields   []Field  // empty: name only
	Expand   []string // link fields to replace by objects
	Filter   Expr     // nil: every row
	Order    []Order  // empty: the DocType's default
	Group    []Ref
	Start    int    // rows to skip, >= 0
	Length   int    // rows to return; 0: all
	Parent   string // the DocType through which a child table is listed
	AsArrays bool   // rows as arrays in the order of Fields
	Debug    bool
}

// Ref names a field: "field", "DocType.field" (Table set), or "link.field"
// (Table set; which of the two it is only the DocType can tell). In a condition
// of a rule Table may be a path over several links, "ticket.customer".
type Ref struct {
	Table string
	Name  string
}

// String is the ref as a client writes it.
func (r Ref) String() string {
	if r.Table == "" {
		return r.Name
	}
	return r.Table + "." + r.Name
}

// Func is an aggregate.
type Func string

// The aggregates.
const (
	Count Func = "COUNT"
	Sum   Func = "SUM"
	Avg   Func = "AVG"
	Min   Func = "MIN"
	Max   Func = "MAX"
)

// Field is one output column.
type Field struct {
	Ref   Ref
	Star  bool   // all permitted columns; with Func Count: count(*)
	Func  Func   // empty: the plain column
	Alias string // key in the row; empty: the field's name

	// Nested asks for the rows of the child table that Ref names, as an array in
	// each row; nil for every other column.
	Nested *Nested
}

// Nested is which fields of the rows of a child table are asked for.
type Nested struct {
	Star   bool // all
	Fields []string
}

// Order is one sort key.
type Order struct {
	Ref  Ref
	Desc bool
}

// Expr is a filter: And, Or or Cond; in a condition of a rule also Has.
type Expr interface{ expr() }

// And holds when every part holds; an empty And holds.
type And []Expr

// Or holds when one part holds; an empty Or holds.
type Or []Expr

// Cond compares one field with a value. Value is what JSON gave: nil, bool,
// string, json.Number, or []any of these.
type Cond struct {
	Ref   Ref
	Op    Op
	Value any
}

// Has holds when some row of the child table that Ref names meets Rows, or, with
// Not, when none does.
type Has struct {
	Ref  Ref
	Not  bool
	Rows Expr // nil: whatever it holds
}

func (And) expr()  {}
func (Or) expr()   {}
func (Cond) expr() {}
func (Has) expr()  {}

// Op is a filter operator in canonical spelling: lower case, single spaces.
type Op string

// The operators.
const (
	Eq          Op = "="
	Ne          Op = "!="
	Lt          Op = "<"
	Gt          Op = ">"
	Le          Op = "<="
	Ge          Op = ">="
	Like        Op = "like"
	NotLike     Op = "not like"
	In          Op = "in"
	NotIn       Op = "not in"
	Is          Op = "is" // value "set" or "not set"
	Between     Op = "between"
	Timespan    Op = "timespan"
	Previous    Op = "previous"
	Next        Op = "next"
	Descendants Op = "descendants of"
	NotDesc     Op = "not descendants of"
	DescIncl    Op = "descendants of (inclusive)"
	Ancestors   Op = "ancestors of"
	NotAnc      Op = "not ancestors of"
)
