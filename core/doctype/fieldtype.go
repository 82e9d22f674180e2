package doctype

import (
	"slices"

	"armature/core/query"
)

// FieldType is all that the platform knows of one type of field. What code wants to
// know of a type it asks here; nothing else compares the names of types.
type FieldType struct {
	Name        string
	Kind        ValueKind // how a value is kept, compared and made canonical
	Description string    // one sentence for who writes a DocType
	Example     string    // JSON of a value; empty: it has none
	Form        string    // how a form shows it, in the words of HTML where it has one
	Options     Options   // what the field's options say

	bound    bound
	names    bool                                  // the value is the name of a document
	dynamic  bool                                  // of the DocType that another field holds
	secret   bool                                  // no API ever shows it
	internal bool                                  // the platform's alone
	attached bool                                  // the value is the address of a file
	markup   bool                                  // tags without a word are no text
	verbatim func(f *Field) bool                   // markup is left as it is
	adjust   func(x float64) float64               // brings a number into its range
	check    func(f *Field, v, where string) error // of text that is not empty
	schema   func(f *Field, schema map[string]any) // what JSON Schema says beyond the kind
}

// Options is what the options of a field say.
type Options struct {
	Meaning string // for who writes a DocType; empty: nothing
	needed  bool
	target  bool // they name a DocType
	field   bool // they name a field of the same DocType
	choices bool // they are the values, one a line
}

// bound says how long a text may be.
type bound uint8

const (
	unbounded bound = iota // as long as a request
	byLength               // the field's length, if it names one
	short                  // the field's length, or DefaultLength
)

// byTypeName finds the descriptors of FieldTypes.
var byTypeName = func() map[string]*FieldType {
	m := make(map[string]*FieldType, len(fieldTypes))
	for i := range fieldTypes {
		m[fieldTypes[i].Name] = &fieldTypes[i]
	}
	return m
}()

// unknown is the descriptor of a type that there is not.
var unknown = &FieldType{}

// FieldTypes lists every type that a DocType may use, in the order in which they
// are explained.
func FieldTypes() []FieldType {
	return slices.DeleteFunc(slices.Clone(fieldTypes), func(t FieldType) bool { return t.internal })
}

// TypeOf is the descriptor of a field type; ok is false for an unknown one.
func TypeOf(fieldtype string) (t *FieldType, ok bool) {
	if t, ok = byTypeName[fieldtype]; !ok {
		t = unknown
	}
	return t, ok
}

// KindOf returns the kind of value of a field type; ok is false for an unknown one.
func KindOf(fieldtype string) (k ValueKind, ok bool) {
	t, ok := TypeOf(fieldtype)
	return t.Kind, ok
}

// typ is the descriptor of the field's type. NewDocType keeps it, since it is asked
// for every value.
func (f *Field) typ() *FieldType {
	if f.descriptor != nil {
		return f.descriptor
	}
	t, _ := TypeOf(f.Type)
	return t
}

// NamesDocType reports whether the options of such a field name a DocType.
func (t *FieldType) NamesDocType() bool { return t.Options.target }

// Short reports whether a text of the type is short enough for an index.
func (t *FieldType) Short() bool { return t.bound == short }

// Operators are those that a filter may use on a field of the type. The operators
// of trees work on links to a tree, and on names.
func (t *FieldType) Operators() []query.Op {
	if t.Kind == NoValue || t.Kind == Rows || t.secret || t.internal {
		return nil
	}
	ops := []query.Op{query.Eq, query.Ne, query.Lt, query.Gt, query.Le, query.Ge, query.In, query.NotIn, query.Is, query.Between}
	switch t.Kind {
	case Float: // which the databases print differently
	case Date, Datetime:
		ops = append(ops, query.Like, query.NotLike, query.Timespan, query.Previous, query.Next)
	default:
		ops = append(ops, query.Like, query.NotLike)
	}
	if t.names && !t.dynamic {
		ops = append(ops, query.Descendants, query.NotDesc, query.DescIncl, query.Ancestors, query.NotAnc)
	}
	return ops
}

// DefaultLength is the most characters a Data, Link or Select value may have
// when the field names no length of its own.
const DefaultLength = 140

// MaxLength is the most characters the field's value may have; 0: no bound
// beyond the request's size.
func (f *Field) MaxLength() int {
	switch b := f.typ().bound; {
	case b != unbounded && f.Length > 0:
		return f.Length
	case b == short:
		return DefaultLength
	}
	return 0
}

// IsLink reports whether the value is the name of a document of DocType
// Options.
func (f *Field) IsLink() bool { t := f.typ(); return t.names && !t.dynamic }

// IsDynamicLink reports whether the value is the name of a document of the DocType
// that the field Options holds.
func (f *Field) IsDynamicLink() bool { return f.typ().dynamic }

// IsPassword reports whether the value is a secret that no API ever shows.
func (f *Field) IsPassword() bool { return f.typ().secret }

// IsInternal reports whether the field is there for the platform alone: to a
// caller, whoever it is, the DocType has no such field.
func (f *Field) IsInternal() bool { return f.typ().internal }

// IsAttachment reports whether the value is the address of a file.
func (f *Field) IsAttachment() bool { return f.typ().attached }

// HasChoices reports whether the value is one of those that SelectOptions names.
func (f *Field) HasChoices() bool { return f.typ().Options.choices }

// FirstChoice is the value of a new document where the field is one of choices and
// nothing else is said; empty for other fields.
func (f *Field) FirstChoice() string {
	if !f.HasChoices() {
		return ""
	}
	return f.SelectOptions()[0]
}

// Takes reports whether a filter may use the operator on the field.
func (f *Field) Takes(op query.Op) bool { return slices.Contains(f.typ().Operators(), op) }

// JSONSchema is what a value of the field is as REST shows it. What rows of a table
// are is for who knows their DocType to say.
func (f *Field) JSONSchema() map[string]any {
	s := f.typ().jsonSchema()
	if f.Numbered {
		return map[string]any{"type": "integer"}
	}
	if most := f.MaxLength(); most > 0 && f.Kind == Text {
		s["maxLength"] = most
	}
	if say := f.typ().schema; say != nil {
		say(f, s)
	}
	return s
}

// jsonSchema is what every value of the type is.
func (t *FieldType) jsonSchema() map[string]any {
	switch t.Kind {
	case Int:
		return map[string]any{"type": "integer"}
	case Check:
		return map[string]any{"type": "integer", "enum": []int{0, 1}}
	case Float:
		return map[string]any{"type": "number"}
	case Rows:
		return map[string]any{"type": "array"}
	case Date:
		return map[string]any{"type": "string", "format": "date"}
	case Datetime:
		return map[string]any{"type": "string", "description": "YYYY-MM-DD HH:MM:SS[.ffffff], the site's wall clock"}
	case Time:
		return map[string]any{"type": "string", "description": "H:MM:SS[.ffffff]"}
	case JSON:
		return map[string]any{"type": "string", "description": "JSON text"}
	}
	return map[string]any{"type": "string"}
}
