package doctype

import (
	"slices"
	"strings"

	"armature/core/fault"
)

// DocType is the definition of a kind of document: an immutable value in a
// Schema snapshot. Columns are the stored fields in a fixed order, the standard
// ones first; a document's values follow that order.
type DocType struct {
	Name   string
	Module string
	Table  string // physical table, fixed at creation

	Autoname   string // naming rule, reference section 2.3
	TitleField string
	Search     []string // search fields
	SortField  string   // empty: modified
	SortAsc    bool

	Owners []*Field // whom if_owner means; empty: the owner
	Public *Field   // a Check that opens a document to every reader; or nil

	Child       bool // istable: rows of a parent document
	Single      bool // issingle: one document, named as the DocType
	Submittable bool
	Tree        bool
	Custom      bool // made by a user at run time
	AllowRename bool
	Track       bool // track_changes: every change is a Version

	Fields      []*Field // standard and declared, in order
	Columns     []*Field // those with a column
	Tables      []*Field // those of kind Rows
	Links       []*Field // those of type Link
	Fetches     []*Field // those that copy a value of a linked document
	Permissions []Rule
	Naming      []NamingRule // before the DocType's own rule, in this order

	byName map[string]*Field
	key    []byte // `"doctype":"<name>"`, ready to append
}

// Positions of the standard fields in DocType.Columns.
const (
	ColName = iota
	ColOwner
	ColCreation
	ColModified
	ColModifiedBy
	ColDocstatus
	ColIdx
	colStandard // how many every document has

	// Rows of a child table have these as well.
	ColParent      = colStandard
	ColParentField = colStandard + 1
	ColParentType  = colStandard + 2
)

// NewDocType completes a definition: it puts the standard fields before the
// declared ones, numbers the columns and builds the look-up. Declared fields
// come with Name, Type and Column set.
func NewDocType(dt DocType, declared []*Field) *DocType {
	d := dt
	d.Fields = append(standardFields(d.Child), declared...)
	d.Fields[ColName].Numbered = Numbered(d.Autoname)
	d.Columns, d.Tables, d.Links, d.Fetches = nil, nil, nil, nil
	d.byName = make(map[string]*Field, len(d.Fields))
	for _, f := range d.Fields {
		f.key = AppendKey(nil, f.Name)
		f.descriptor = f.typ()
		f.Index = -1
		switch f.Kind {
		case NoValue:
		case Rows:
			d.Tables = append(d.Tables, f)
		default:
			f.Index = len(d.Columns)
			d.Columns = append(d.Columns, f)
		}
		if f.FetchFrom != "" && f.Index >= 0 {
			d.Fetches = append(d.Fetches, f)
		}
		if f.IsLink() {
			d.Links = append(d.Links, f)
		}
		d.byName[f.Name] = f
	}
	d.key = AppendString(append([]byte(nil), `"doctype":`...), d.Name)
	return &d
}

func standardFields(child bool) []*Field {
	std := func(name, typ string, s ValueKind) *Field {
		return &Field{Name: name, Label: name, Type: typ, Kind: s, Column: name, Standard: true}
	}
	fields := []*Field{
		std("name", "Data", Text),
		std("owner", "Data", Text),
		std("creation", "Datetime", Datetime),
		std("modified", "Datetime", Datetime),
		std("modified_by", "Data", Text),
		std("docstatus", "Int", Int),
		std("idx", "Int", Int),
	}
	if child {
		fields = append(fields,
			std("parent", "Data", Text),
			std("parentfield", "Data", Text),
			std("parenttype", "Data", Text),
		)
	}
	return fields
}

// Field returns the field of that name, or nil.
func (d *DocType) Field(name string) *Field { return d.byName[name] }

// ParentField is the name of the link by which a node of a tree DocType points at
// its parent.
func ParentField(doctype string) string {
	return "parent_" + strings.ReplaceAll(strings.ToLower(doctype), " ", "_")
}

// ParentLink is the link by which documents of a tree point at their parents; nil:
// the DocType is no tree.
func (d *DocType) ParentLink() *Field {
	if !d.Tree {
		return nil
	}
	return d.Field(ParentField(d.Name))
}

// AsksOwner reports whether a rule of the DocType gives rights to a document's owner
// alone, so that lists are asked for by owner.
func (d *DocType) AsksOwner() bool {
	return slices.ContainsFunc(d.Permissions, func(r Rule) bool { return r.IfOwner })
}

// DefaultOrder is the sort field and direction of a list that asks for none.
func (d *DocType) DefaultOrder() (f *Field, desc bool) {
	if f := d.Field(d.SortField); f != nil && f.Index >= 0 {
		return f, !d.SortAsc
	}
	return d.Columns[ColModified], true
}

// Schema is an immutable snapshot of all DocTypes of a site. Version grows with
// every change, in every process.
type Schema struct {
	Version int64
	types   map[string]*DocType
}

// NewSchema makes a snapshot.
func NewSchema(version int64, types []*DocType) *Schema {
	s := &Schema{Version: version, types: make(map[string]*DocType, len(types))}
	for _, dt := range types {
		s.types[dt.Name] = dt
	}
	return s
}

// DocType returns the definition, or nil.
func (s *Schema) DocType(name string) *DocType { return s.types[name] }

// Platform returns a DocType that the platform ships; Missing where the site has
// none, or has one of its own of that name, which nothing of the platform may take
// for its own.
func (s *Schema) Platform(name string) (*DocType, error) {
	dt := s.types[name]
	switch {
	case dt == nil:
		return nil, fault.Missing("The site has no DocType %s", name)
	case dt.Custom:
		return nil, fault.Missing("The site has a DocType %s of its own: what the platform would do with documents of this name is off", name)
	}
	return dt, nil
}

// All calls yield for every DocType, in no particular order.
func (s *Schema) All(yield func(*DocType) bool) {
	for _, dt := range s.types {
		if !yield(dt) {
			return
		}
	}
}

// Len is the number of DocTypes.
func (s *Schema) Len() int { return len(s.types) }
