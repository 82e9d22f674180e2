package openapi

import (
	"maps"
	"slices"

	"armature/core/access"
	"armature/core/doctype"
)

// component adds the schema of a DocType and of the child tables it holds.
func (b *builder) component(dt *doctype.DocType) {
	b.componentAt(dt, access.LevelsFor(dt.Permissions, b.caller, access.Read)|1)
}

// componentAt is component for a caller who sees fields of those levels. The rows of
// a table are shown at the levels of the document they are in: of a child table in
// several DocTypes, what some of them show.
func (b *builder) componentAt(dt *doctype.DocType, levels access.Levels) {
	name := schemaName(dt.Name)
	if shown, there := b.shown[name]; there && shown|levels == shown {
		return
	} else if there {
		levels |= shown
	}
	schema := object{"type": "object", "title": dt.Name}
	b.schemas[name], b.shown[name] = schema, levels // first, so that a DocType that points at itself ends
	properties := object{"doctype": object{"const": dt.Name}}
	var required []string
	for _, f := range dt.Fields {
		if f.Kind == doctype.NoValue || f.IsInternal() || !levels.Has(f.PermLevel) {
			continue
		}
		properties[f.Name] = b.field(f, levels)
		if f.Required && f.Default == "" {
			required = append(required, f.Name)
		}
	}
	schema["properties"] = properties
	schema["x-armature"] = b.about(dt, required)
	if len(required) > 0 {
		// Only a create needs them; a change sends what changes.
		schema["description"] = "Mandatory on create: " + join(required)
	}
}

// about is what a generator of clients wants to know of a DocType and JSON Schema has
// no words for.
func (b *builder) about(dt *doctype.DocType, mandatory []string) object {
	rights := []string{}
	for _, right := range []struct {
		name  string
		right access.Right
	}{
		{"read", access.Read}, {"write", access.Write}, {"create", access.Create}, {"delete", access.Delete},
		{"submit", access.Submit}, {"cancel", access.Cancel},
	} {
		if dt.Child || dt.Single && right.right != access.Read && right.right != access.Write ||
			!dt.Submittable && (right.right == access.Submit || right.right == access.Cancel) {
			continue
		}
		if b.reaches(dt, right.right) {
			rights = append(rights, right.name)
		}
	}
	return object{
		"doctype": dt.Name, "child": dt.Child, "single": dt.Single, "submittable": dt.Submittable,
		"rights": rights, "mandatory": slices.Sorted(slices.Values(mandatory)),
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

// field is the schema of one field's value as REST shows it to who sees fields of
// those levels.
func (b *builder) field(f *doctype.Field, levels access.Levels) object {
	s := object{}
	if f.Label != "" && f.Label != f.Name {
		s["title"] = f.Label
	}
	if f.ReadOnly || f.Standard && f.Name != "name" && f.Name != "docstatus" {
		s["readOnly"] = true
	}
	maps.Copy(s, f.JSONSchema())
	if f.Kind != doctype.Rows {
		return s
	}
	if child := b.schema.DocType(f.Options); child != nil {
		b.componentAt(child, levels)
		s["items"] = ref(child)
	} else {
		delete(s, "type")
	}
	return s
}
