package document

import (
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/scope"
)

// Protection is what keeps plugins from what decides who may do what.
type Protection struct {
	// Platform marks a DocType of the platform itself: no wildcard of a plugin's
	// grants covers it.
	Platform bool
	// Fields are those that no plugin sets without the grant platform; AllFields
	// in place of their names.
	Fields []string
	// Decided are the fields that follow from others, which no event handler sets.
	Decided []string
}

// AllFields stands for every field in a Protection.
const AllFields = "*"

func (p Protection) has(field string) bool {
	return slices.Contains(p.Fields, field) || slices.Contains(p.Fields, AllFields)
}

// Platform reports whether a DocType is one of the platform's own.
func (s *Service) Platform(name string) bool { return s.protection[name].Platform }

// protect refuses a change by a plugin of what decides who may do what. For a
// document that is new, before is what it would be without the values sent.
func (s *Service) protect(caller *identity.Caller, doc, before *doctype.Document) error {
	if caller.Platform() {
		return nil
	}
	p, ok := s.protection[doc.Type.Name]
	if !ok || len(p.Fields) == 0 {
		return nil
	}
	for _, f := range doc.Type.Fields {
		if !f.Standard && p.has(f.Name) && f.Kind != doctype.NoValue && !sameValue(f, doc, before) {
			return protected(caller, doc.Type, f)
		}
	}
	return nil
}

// protectAll is protect of what happens to a document as a whole, such as making
// and deleting one of a DocType all of whose fields are protected.
func (s *Service) protectAll(caller *identity.Caller, dt *doctype.DocType) error {
	if caller.Platform() || !slices.Contains(s.protection[dt.Name].Fields, AllFields) {
		return nil
	}
	return fault.Denied("The plugin %s may not change documents of the type %s: it is not granted platform on this site", caller.Frame.Plugin(), dt.Name)
}

func protected(caller *identity.Caller, dt *doctype.DocType, f *doctype.Field) error {
	return fault.Denied("The plugin %s may not set %s of %s: it is not granted platform on this site", caller.Frame.Plugin(), f.Name, dt.Name)
}

// sameValue compares a field of two versions of a document.
func sameValue(f *doctype.Field, doc, before *doctype.Document) bool {
	if f.Kind == doctype.Rows {
		return sameRows(doc.Rows(f.Name), before.Rows(f.Name))
	}
	return doc.Values()[f.Index] == before.Values()[f.Index]
}

// MaySome reports whether the roles of a caller allow a right, as scopes know it, on
// some documents of the DocType.
func (s *Service) MaySome(caller *identity.Caller, name string, right scope.Right) bool {
	dt := s.Schema().DocType(name)
	if dt == nil {
		return false
	}
	if caller.Unchecked() || dt.Child {
		return true // rows go with their documents
	}
	for _, r := range []struct {
		scope scope.Right
		right permission.Right
	}{
		{scope.Read, permission.Read}, {scope.Create, permission.Create}, {scope.Update, permission.Write},
		{scope.Delete, permission.Delete}, {scope.Submit, permission.Submit},
	} {
		if right&r.scope == 0 || r.scope == scope.Submit && !dt.Submittable || r.scope == scope.Create && dt.Single {
			continue
		}
		if permission.For(dt.Permissions, caller, r.right) == permission.None {
			return false
		}
	}
	return true
}
