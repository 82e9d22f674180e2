package document

import (
	"slices"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
)

// Settable is what a handler of a plugin may set, and whose handler it is.
type Settable struct {
	Plugin, Handler string
	Fields          []string // fields, table.field, or access.AllFields
	Platform        bool     // granted platform: protected fields too
}

func (m Settable) has(field string) bool {
	return slices.Contains(m.Fields, access.AllFields) || slices.Contains(m.Fields, field)
}

// Assign puts values into the document of an event that comes before the write,
// as a handler sets them. A value equal to the document's sets nothing; another
// one is refused in a field that the handler does not say it sets, in what the
// platform keeps about a document, and in what decides who may do what. Errors:
// ValidationError for those, and for values their fields cannot hold.
func (s *Service) Assign(ev *Event, values map[string]any, may Settable) error {
	if s.refuseUnknown() && !s.knows(ev.Doc.Type, values) {
		return unknownRefused(ev.Doc.Type, s.Unknown(ev.Doc.Type, values))
	}
	a := &assignment{s: s, caller: ev.Caller, levels: access.AllLevels}
	next := ev.Doc.Clone()
	if err := a.document(next, values, false); err != nil {
		return err
	}
	if !slices.Contains(may.Fields, access.AllFields) {
		if err := s.keepsStandard(ev.Doc, values, may); err != nil {
			return err
		}
	}
	p := s.protection[ev.Doc.Type.Name]
	for _, f := range ev.Doc.Type.Fields {
		if f.Standard || f.Kind == doctype.NoValue || equalValue(f, next, ev.Doc) {
			continue
		}
		switch {
		case p.Has(f.Name) && !may.Platform:
			return refuseSet(may, ev.Doc, f.Name, "only a plugin that is granted platform sets it")
		case slices.Contains(p.Decided, f.Name):
			return refuseSet(may, ev.Doc, f.Name, "it follows from the rest of the document")
		case f.Kind == doctype.Rows:
			if field := undeclared(f, next, ev.Doc, may); field != "" {
				return refuseSet(may, ev.Doc, field, "its manifest does not say that it does")
			}
		case !may.has(f.Name):
			return refuseSet(may, ev.Doc, f.Name, "its manifest does not say that it does")
		}
	}
	copy(ev.Doc.Values(), next.Values())
	for _, t := range ev.Doc.Type.Tables {
		ev.Doc.PutRows(t.Name, next.Rows(t.Name))
	}
	return nil
}

func refuseSet(may Settable, doc *doctype.Document, field, why string) error {
	return fault.Invalid("", "The handler %s of the plugin %s may not set %s of %s: %s", may.Handler, may.Plugin, field, doc.Type.Name, why)
}

// keepsStandard refuses other values in what the platform keeps about a document.
func (s *Service) keepsStandard(doc *doctype.Document, values map[string]any, may Settable) error {
	for key, v := range values {
		f := doc.Type.Field(key)
		if f == nil || !f.Standard || v == nil {
			continue
		}
		if got, err := doctype.Coerce(f, v, s.zone()); err != nil || got != doc.Values()[f.Index] {
			return refuseSet(may, doc, key, "the platform does")
		}
	}
	return nil
}

// undeclared is a field of a table, or the table itself, that differs and that the
// handler does not say it sets; empty: there is none.
func undeclared(table *doctype.Field, doc, before *doctype.Document, may Settable) string {
	if may.has(table.Name) {
		return ""
	}
	rows, were := doc.Rows(table.Name), before.Rows(table.Name)
	if len(rows) != len(were) {
		return table.Name
	}
	for i, row := range rows {
		if row.Name() != were[i].Name() {
			return table.Name
		}
		for _, f := range row.Type.Columns {
			if field := table.Name + "." + f.Name; !f.Standard && !equalValue(f, row, were[i]) && !may.has(field) {
				return field
			}
		}
	}
	return ""
}

// equalValue compares a field as handlers see it, who may send nothing either as
// null or as empty text.
func equalValue(f *doctype.Field, doc, before *doctype.Document) bool {
	if f.Kind == doctype.Rows {
		return doctype.SameRows(doc.Rows(f.Name), before.Rows(f.Name))
	}
	a, b := doc.Values()[f.Index], before.Values()[f.Index]
	return a == b || (a == nil || a == "") && (b == nil || b == "")
}
