package openapi

import (
	"slices"

	"armature/core/doctype"
	"armature/core/permission"
)

// component adds the schema of a DocType and of the child tables it holds.
func (b *builder) component(dt *doctype.DocType) {
	name := schemaName(dt.Name)
	if _, there := b.schemas[name]; there {
		return
	}
	schema := object{"type": "object", "title": dt.Name}
	b.schemas[name] = schema // first, so that a DocType that points at itself ends
	levels := permission.LevelsFor(dt.Permissions, b.caller, permission.Read) | 1
	if dt.Child {
		levels = permission.AllLevels
	}
	properties := object{"doctype": object{"const": dt.Name}}
	var required []string
	for _, f := range dt.Fields {
		if f.Kind == doctype.NoValue || f.IsInternal() || !levels.Has(f.PermLevel) {
			continue
		}
		properties[f.Name] = b.field(f)
		if f.Required && f.Default == "" {
			required = append(required, f.Name)
		}
	}
	schema["properties"] = properties
	if len(required) > 0 {
		// Only a create needs them; a change sends what changes.
		schema["description"] = "Mandatory on create: " + join(required)
	}
}

func join(names []string) string {
	slices.Sort(names)
	text := ""
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

// field is the schema of one field's value as REST shows it.
func (b *builder) field(f *doctype.Field) object {
	s := object{}
	if f.Label != "" && f.Label != f.Name {
		s["title"] = f.Label
	}
	if f.ReadOnly || f.Standard && f.Name != "name" && f.Name != "docstatus" {
		s["readOnly"] = true
	}
	switch f.Kind {
	case doctype.Int:
		s["type"] = "integer"
	case doctype.Check:
		s["type"], s["enum"] = "integer", []int{0, 1}
	case doctype.Float:
		s["type"] = "number"
	case doctype.Rows:
		if child := b.schema.DocType(f.Options); child != nil {
			b.component(child)
			s["type"], s["items"] = "array", ref(child)
		}
	default:
		b.text(f, s)
	}
	return s
}

func (b *builder) text(f *doctype.Field, s object) {
	s["type"] = "string"
	if f.Numbered {
		s["type"] = "integer"
		return
	}
	switch f.Kind {
	case doctype.Date:
		s["format"] = "date"
	case doctype.Datetime:
		s["description"] = "YYYY-MM-DD HH:MM:SS[.ffffff], the site's wall clock"
	case doctype.Time:
		s["description"] = "H:MM:SS[.ffffff]"
	case doctype.JSON:
		s["description"] = "JSON text"
	}
	if max := f.MaxLength(); max > 0 {
		s["maxLength"] = max
	}
	switch {
	case f.IsLink():
		s["description"] = "Name of a " + f.Options
	case f.Type == "Select" && f.Options != "":
		s["enum"] = f.SelectOptions()
	case f.IsPassword():
		s["writeOnly"] = true
	}
}
