package access

import (
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
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

// Has reports whether a field is protected.
func (p Protection) Has(field string) bool {
	return slices.Contains(p.Fields, field) || slices.Contains(p.Fields, AllFields)
}

// Protects reports whether Protect may refuse anything in documents of a DocType.
func (r *Rights) Protects(dt *doctype.DocType) bool {
	return !r.Caller.Platform() && len(r.Protection[dt.Name].Fields) > 0
}

// Protect refuses a change by a plugin of what decides who may do what. For a
// document that is new, before is what it would be without the values sent. It is
// not looked at, and may be nil, where the DocType is not one of which Protects says so.
func (r *Rights) Protect(doc, before *doctype.Document) error {
	if !r.Protects(doc.Type) {
		return nil
	}
	p := r.Protection[doc.Type.Name]
	for _, f := range doc.Type.Fields {
		if !f.Standard && p.Has(f.Name) && f.Kind != doctype.NoValue && !doctype.SameValue(f, doc, before) {
			return protected(r.Caller, doc.Type, f)
		}
	}
	return nil
}

// ProtectAll is Protect of what happens to a document as a whole, such as making
// and deleting one of a DocType all of whose fields are protected.
func (r *Rights) ProtectAll(dt *doctype.DocType) error {
	if r.Caller.Platform() || !slices.Contains(r.Protection[dt.Name].Fields, AllFields) {
		return nil
	}
	return fault.Denied("The plugin %s may not change documents of the type %s: it is not granted platform on this site: add platform to grants in its manifest, and approve it by name", r.Caller.Frame.Plugin(), dt.Name)
}

func protected(caller *identity.Caller, dt *doctype.DocType, f *doctype.Field) error {
	return fault.Denied("The plugin %s may not set %s of %s: it is not granted platform on this site: add platform to grants in its manifest, and approve it by name", caller.Frame.Plugin(), f.Name, dt.Name)
}

// DemandPassword refuses to show the secrets of a document that the caller reads to
// whom they are not shown: to System Managers alone, to no plugin by a wildcard, and
// of the platform's own DocTypes to none. dt is nil where there is no such DocType.
func (r *Rights) DemandPassword(dt *doctype.DocType) error {
	if !r.Caller.HasRole(identity.SystemManager) {
		return fault.Denied("Only a System Manager may read passwords")
	}
	if in := r.Caller.Frame; in != nil && dt != nil && (r.Protection[dt.Name].Platform || !in.Names(dt.Name, scope.Read) && !in.Owns(dt.Name, madeBy(dt))) {
		return fault.Denied("The plugin %s may not read the passwords of %s: it is not granted %s by name", in.Plugin(), dt.Name, scope.Of(dt.Name, scope.Read))
	}
	return nil
}
