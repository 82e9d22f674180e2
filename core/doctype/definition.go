package doctype

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"armature/core/fault"
	"armature/core/query"
)

// Definition is a DocType as it is written down: the JSON of core/doctypes, the
// body of POST /api/resource/DocType, the rows of the table. Keys are those of
// the reference, section 12.
type Definition struct {
	Name        string            `json:"name"`
	Module      string            `json:"module"`
	Table       string            `json:"table_name"`
	Autoname    string            `json:"autoname"`
	TitleField  string            `json:"title_field"`
	Search      string            `json:"search_fields"`
	SortField   string            `json:"sort_field"`
	SortOrder   string            `json:"sort_order"`
	Owners      string            `json:"owner_fields"`
	Public      string            `json:"public_field"`
	Child       int64             `json:"istable"`
	Single      int64             `json:"issingle"`
	Submittable int64             `json:"is_submittable"`
	Tree        int64             `json:"is_tree"`
	Custom      int64             `json:"custom"`
	AllowRename int64             `json:"allow_rename"`
	Track       int64             `json:"track_changes"`
	Fields      []FieldDefinition `json:"fields"`
	Permissions []RuleDefinition  `json:"permissions"`
}

// FieldDefinition is one DocField row.
type FieldDefinition struct {
	Name                  string `json:"fieldname"`
	Label                 string `json:"label"`
	Type                  string `json:"fieldtype"`
	Options               string `json:"options"`
	Default               string `json:"default"`
	Column                string `json:"column_name"`
	FetchFrom             string `json:"fetch_from"`
	Length                int64  `json:"length"`
	Precision             string `json:"precision"`
	PermLevel             int64  `json:"permlevel"`
	Required              int64  `json:"reqd"`
	Unique                int64  `json:"unique"`
	Indexed               int64  `json:"search_index"`
	ReadOnly              int64  `json:"read_only"`
	Hidden                int64  `json:"hidden"`
	SetOnlyOnce           int64  `json:"set_only_once"`
	NonNegative           int64  `json:"non_negative"`
	NotNullable           int64  `json:"not_nullable"`
	Virtual               int64  `json:"is_virtual"`
	AllowOnSubmit         int64  `json:"allow_on_submit"`
	IgnoreUserPermissions int64  `json:"ignore_user_permissions"`
	IgnoreXSSFilter       int64  `json:"ignore_xss_filter"`
	FetchIfEmpty          int64  `json:"fetch_if_empty"`
}

// RuleDefinition is one DocPerm row.
type RuleDefinition struct {
	Role      string          `json:"role"`
	PermLevel int64           `json:"permlevel"`
	IfOwner   int64           `json:"if_owner"`
	Condition string          `json:"condition"` // the JSON of a list filter, see query.Condition
	Rights    map[string]bool `json:"-"`
}

var (
	doctypeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _-]{0,60}$`)
	fieldName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$`)
)

// reserved are the fieldnames no DocType may declare (reference, section 12).
var reserved = map[string]bool{
	"name": true, "parent": true, "creation": true, "owner": true, "modified": true,
	"modified_by": true, "parentfield": true, "parenttype": true, "file_list": true,
	"flags": true, "docstatus": true, "idx": true, "doctype": true,
}

// maxColumns keeps a table within what both databases hold.
const maxColumns = 1000

// Define checks a definition by itself and turns it into a DocType. What other
// DocTypes it needs (links, tables) is checked by the Service when it is saved.
func Define(def Definition) (*DocType, error) {
	if !doctypeName.MatchString(def.Name) {
		return nil, fault.New(fault.Conflict, "NameError",
			"A DocType name starts with a letter, has at most 61 letters, digits, spaces, _ and -: %q", def.Name)
	}
	dt := DocType{
		Name: def.Name, Module: def.Module, Table: def.Table,
		Autoname: def.Autoname, TitleField: def.TitleField,
		SortField: def.SortField, SortAsc: strings.EqualFold(def.SortOrder, "asc"),
		Child: def.Child != 0, Single: def.Single != 0, Submittable: def.Submittable != 0,
		Tree: def.Tree != 0, Custom: def.Custom != 0, AllowRename: def.AllowRename != 0,
		Track: def.Track != 0,
	}
	if dt.Table == "" {
		dt.Table = TableName(def.Name)
	}
	for _, name := range strings.Split(def.Search, ",") {
		if name = strings.TrimSpace(name); name != "" {
			dt.Search = append(dt.Search, name)
		}
	}
	fields, err := defineFields(def)
	if err != nil {
		return nil, err
	}
	for _, p := range def.Permissions {
		rule, err := defineRule(def.Name, p)
		if err != nil {
			return nil, err
		}
		dt.Permissions = append(dt.Permissions, rule)
	}
	complete := NewDocType(dt, fields)
	return complete, complete.nameOwners(def)
}

// nameOwners resolves owner_fields, whose users count as owners for if_owner,
// and public_field.
func (d *DocType) nameOwners(def Definition) error {
	for _, name := range strings.Split(def.Owners, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		f := d.Field(name)
		if f == nil || f.Kind != Text || f.Index < 0 {
			return fault.Invalid("", "%s: owner_fields names a field that holds no user: %s", d.Name, name)
		}
		d.Owners = append(d.Owners, f)
	}
	if len(d.Owners) == 0 {
		d.Owners = []*Field{d.Columns[ColOwner]}
	}
	if def.Public == "" {
		return nil
	}
	if d.Public = d.Field(def.Public); d.Public == nil || d.Public.Kind != Check {
		return fault.Invalid("", "%s: public_field names no Check: %s", d.Name, def.Public)
	}
	return nil
}

func defineFields(def Definition) ([]*Field, error) {
	if len(def.Fields) > maxColumns {
		return nil, fault.Invalid("", "%s has more than %d fields", def.Name, maxColumns)
	}
	seen := make(map[string]bool, len(def.Fields))
	fields := make([]*Field, 0, len(def.Fields))
	for i := range def.Fields {
		f, err := defineField(def, &def.Fields[i])
		if err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, fault.Invalid("UniqueFieldnameError", "Fieldname %s appears more than once in %s", f.Name, def.Name)
		}
		seen[f.Name] = true
		fields = append(fields, f)
	}
	return fields, nil
}

func defineField(def Definition, fd *FieldDefinition) (*Field, error) {
	kind, ok := KindOf(fd.Type)
	if !ok {
		return nil, fault.Invalid("", "%s: unknown field type %q of field %s", def.Name, fd.Type, fd.Name)
	}
	name := fd.Name
	if name == "" {
		name = FieldnameFrom(fd.Label, len(seenName(def, fd)))
	}
	if reserved[name] {
		return nil, fault.Invalid("InvalidFieldNameError", "%s: fieldname %s is reserved", def.Name, name)
	}
	if !fieldName.MatchString(name) {
		return nil, fault.Invalid("InvalidFieldNameError",
			"%s: a fieldname starts with a lower-case letter, then lower-case letters, digits and _: %q", def.Name, name)
	}
	f := &Field{
		Name: name, Label: fd.Label, Type: fd.Type, Options: fd.Options, Default: fd.Default,
		Kind: kind, FetchFrom: fd.FetchFrom, Length: int(fd.Length), PermLevel: int(fd.PermLevel),
		Required: fd.Required != 0, Unique: fd.Unique != 0, Indexed: fd.Indexed != 0,
		ReadOnly: fd.ReadOnly != 0, Hidden: fd.Hidden != 0, SetOnlyOnce: fd.SetOnlyOnce != 0,
		NonNegative: fd.NonNegative != 0, NotNullable: fd.NotNullable != 0, Virtual: fd.Virtual != 0,
		AllowOnSubmit: fd.AllowOnSubmit != 0, IgnoreUserPermissions: fd.IgnoreUserPermissions != 0,
		IgnoreXSSFilter: fd.IgnoreXSSFilter != 0, FetchIfEmpty: fd.FetchIfEmpty != 0,
	}
	if f.Label == "" {
		f.Label = LabelFrom(name)
	}
	if p, err := strconv.Atoi(fd.Precision); err == nil {
		f.Precision = p
	}
	if def.Autoname == "field:"+name {
		f.Unique = true
	}
	return f, checkField(def, f, fd)
}

// checkField applies the rules of the reference's table that need nothing but
// the field, and gives it its column.
func checkField(def Definition, f *Field, fd *FieldDefinition) error {
	switch {
	case f.IsInternal() && def.Custom != 0:
		return fault.Invalid("", "%s: the field type %s of %s is for built-in DocTypes only", def.Name, f.Type, f.Name)
	case f.PermLevel < 0 || f.PermLevel > 9:
		return fault.Invalid("", "%s: permlevel of %s must be 0 to 9", def.Name, f.Name)
	case f.Kind == NoValue && f.Required:
		return fault.Invalid("IllegalMandatoryError", "%s: %s of type %s cannot be mandatory", def.Name, f.Name, f.Type)
	case f.typ().Options.needed && f.Options == "":
		return fault.Invalid("DoctypeLinkError", "%s: options of %s must name a DocType", def.Name, f.Name)
	case f.Hidden && f.Required && f.Default == "" && def.Custom != 0:
		return fault.Invalid("HiddenAndMandatoryWithoutDefaultError",
			"%s: %s cannot be hidden and mandatory without a default", def.Name, f.Name)
	case f.Unique && (f.Kind == NoValue || f.Kind == Rows || f.Kind == JSON || f.Kind == Check || longText(f)):
		return fault.Invalid("NonUniqueError", "%s: %s of type %s cannot be unique", def.Name, f.Name, f.Type)
	case f.Default != "" && !f.takesDefault():
		return fault.Invalid("", "%s: %s cannot have the default %q", def.Name, f.Name, f.Default)
	case f.Indexed && longText(f):
		return fault.Invalid("CannotIndexedError", "%s: %s of type %s cannot be indexed", def.Name, f.Name, f.Type)
	}
	if f.Kind != NoValue && f.Kind != Rows && !f.Virtual {
		if f.Column = fd.Column; f.Column == "" {
			f.Column = f.Name
		}
	}
	if f.Virtual {
		f.Kind = NoValue
	}
	return nil
}

// longText reports whether the field's text has no bound an index could rely
// on.
func longText(f *Field) bool { return f.Kind == Text && f.MaxLength() == 0 }

func defineRule(doctype string, p RuleDefinition) (Rule, error) {
	rule := Rule{Role: p.Role, Level: int(p.PermLevel), IfOwner: p.IfOwner != 0}
	if p.Role == "" {
		return rule, fault.Invalid("MandatoryError", "%s: a permission row needs a role", doctype)
	}
	if rule.Level < 0 || rule.Level > 9 {
		return rule, fault.Invalid("", "%s: a permission level is 0 to 9", doctype)
	}
	if rule.Text = strings.TrimSpace(p.Condition); rule.Text != "" {
		e, err := query.Condition(rule.Text)
		if err == nil && rule.Level != 0 {
			err = fault.Invalid("", "a condition is about documents, so it belongs to level 0")
		}
		if rule.Broken = err; err != nil {
			return rule, nil // the other rules hold, and CheckRules refuses to save it
		}
		rule.Condition = e
	}
	for name, on := range p.Rights {
		if right, ok := ParseRight(name); ok && on {
			rule.Rights |= right
		}
	}
	return rule, nil
}

// TableName is the physical table of a new DocType. Two names that differ only
// in case or punctuation give the same table; the Service then adds a number.
func TableName(doctype string) string {
	var b strings.Builder
	b.WriteString("d_")
	for _, r := range strings.ToLower(doctype) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
		if b.Len() >= 50 {
			break
		}
	}
	return b.String()
}

// FieldnameFrom derives a fieldname from a label: lower case, anything else
// than letters and digits becomes _. A reserved result gets a 1 appended.
func FieldnameFrom(label string, nth int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(label)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if b.Len() > 0 {
			b.WriteByte('_')
		}
	}
	name := strings.TrimRight(b.String(), "_")
	if name == "" {
		return "field_" + strconv.Itoa(nth)
	}
	if reserved[name] {
		name += "1"
	}
	return name
}

// seenName returns the fields up to and including fd, so that an unnamed and
// unlabelled field (a break) is numbered by its place.
func seenName(def Definition, fd *FieldDefinition) []FieldDefinition {
	for i := range def.Fields {
		if &def.Fields[i] == fd {
			return def.Fields[:i+1]
		}
	}
	return def.Fields
}

// LabelFrom derives a label from a fieldname.
func LabelFrom(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// UnmarshalJSON reads a DocPerm row: the rights stand beside the role as
// "read": 1 and so on.
func (r *RuleDefinition) UnmarshalJSON(text []byte) error {
	type plain RuleDefinition
	if err := json.Unmarshal(text, (*plain)(r)); err != nil {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	r.Rights = make(map[string]bool)
	for _, right := range RightNames() {
		if n, ok := all[right].(float64); ok && n != 0 {
			r.Rights[right] = true
		}
	}
	return nil
}
