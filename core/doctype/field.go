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

	key []byte // `"name":`, ready to append
}

// kinds maps every field type of the reference (section 12.1).
var kinds = map[string]ValueKind{
	"Data": Text, "Link": Text, "Dynamic Link": Text, "Select": Text, "Read Only": Text,
	"Autocomplete": Text, "Color": Text, "Icon": Text, "Phone": Text,
	"Small Text": Text, "Text": Text, "Password": Text, "Attach": Text, "Attach Image": Text,
	"Long Text": Text, "Text Editor": Text, "HTML Editor": Text, "Markdown Editor": Text,
	"Code": Text, "Signature": Text, "Barcode": Text, "Geolocation": Text,
	"Int": Int, "Long Int": Int, "Check": Check,
	"Float": Float, "Currency": Float, "Percent": Float, "Duration": Float, "Rating": Float,
	"Date": Date, "Datetime": Datetime, "Time": Time, "JSON": JSON, internalType: Text,
	"Table": Rows, "Table MultiSelect": Rows,
	"Section Break": NoValue, "Column Break": NoValue, "Tab Break": NoValue,
	"HTML": NoValue, "Button": NoValue, "Image": NoValue, "Fold": NoValue, "Heading": NoValue,
}

// internalType is a field type of our own, for what the platform keeps beside a
// document and nobody reads or writes over any API, Administrator included:
// where the bytes of a file are. Only a built-in DocType has such fields.
const internalType = "Internal"

// KindOf returns the kind of value of a field type; ok is false for an unknown one.
func KindOf(fieldtype string) (k ValueKind, ok bool) {
	k, ok = kinds[fieldtype]
	return k, ok
}

// DefaultLength is the most characters a Data, Link or Select value may have
// when the field names no length of its own.
const DefaultLength = 140

// MaxLength is the most characters the field's value may have; 0: no bound
// beyond the request's size.
func (f *Field) MaxLength() int {
	switch f.Type {
	case "Data", "Link", "Dynamic Link", "Select", "Read Only", "Autocomplete", "Color", "Icon", "Phone", internalType:
		if f.Length > 0 {
			return f.Length
		}
		return DefaultLength
	case "Small Text", "Text":
		if f.Length > 0 {
			return f.Length
		}
	}
	return 0
}

// IsLink reports whether the value is the name of a document of DocType
// Options.
func (f *Field) IsLink() bool { return f.Type == "Link" }

// IsPassword reports whether the value is a secret that no API ever shows.
func (f *Field) IsPassword() bool { return f.Type == "Password" }

// IsInternal reports whether the field is there for the platform alone: to a
// caller, whoever it is, the DocType has no such field.
func (f *Field) IsInternal() bool { return f.Type == internalType }

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
