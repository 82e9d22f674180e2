package doctype

import (
	"strings"
	"time"
)

// ValueKind is how a field's value is kept and compared; every field type maps to
// one.
type ValueKind uint8

// The kinds. The canonical Go value of each is in parentheses; an absent
// value is nil where the column is nullable.
const (
	NoValue  ValueKind = iota // layout fields: no column, no value
	Text                      // (string)
	Int                       // (int64), never null
	Check                     // (int64, 0 or 1), never null
	Float                     // (float64), never null
	Datetime                  // (string "2006-01-02 15:04:05.000000", the site's wall clock)
	Date                      // (string "2006-01-02")
	Time                      // (string "15:04:05.000000")
	JSON                      // (string, JSON text as it came in)
	Rows                      // child table: no column, rows in another table
)

// Nullable reports whether a column of this kind may hold NULL.
func (k ValueKind) Nullable() bool {
	switch k {
	case Int, Check, Float:
		return false
	}
	return true
}

// Field is one field of a DocType. It is part of an immutable snapshot: never
// change one in place.
type Field struct {
	Name     string // fieldname, [a-z][a-z0-9_]*
	Label    string
	Type     string // fieldtype, as in DocField
	Options  string
	Default  string
	Kind     ValueKind
	Column   string // physical column, fixed at creation; empty without a value
	Index    int    // position in DocType.Columns; -1 without a column
	Standard bool   // one of the fields every document has
	Numbered bool   // the name of an autoincrement DocType: digits, a number in JSON

	Length      int
	Precision   int
	PermLevel   int
	Required    bool
	Unique      bool
	Indexed     bool
	ReadOnly    bool
	Hidden      bool
	SetOnlyOnce bool
	NonNegative bool
	NotNullable bool
	Virtual     bool

	AllowOnSubmit         bool
	IgnoreUserPermissions bool
	IgnoreXSSFilter       bool
	FetchFrom             string
	FetchIfEmpty          bool

	key        []byte // `"name":`, ready to append
	descriptor *FieldType
}

// SelectOptions returns the values a Select field allows.
func (f *Field) SelectOptions() []string { return strings.Split(f.Options, "\n") }

// takesDefault reports whether the field can hold its default; what a default
// of text stands for is known only when a document is made.
func (f *Field) takesDefault() bool {
	switch f.Kind {
	case Date, Datetime, Time:
		switch f.Default {
		case "Today", "today", "now", "Now":
			return true
		}
	case Int, Check, Float:
	default:
		return true
	}
	_, err := Coerce(f, f.Default, time.UTC)
	return err == nil
}
