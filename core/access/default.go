package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// Defaults fills the links of a new document that User Permissions have a
// default for: the one marked so, or the only one there is.
func (r *Rights) Defaults(ctx context.Context, doc *doctype.Document) error {
	caller := r.Caller
	if len(caller.Restrictions) == 0 || caller.Unchecked() {
		return nil
	}
	var marked []identity.Restriction
	read := false
	for _, f := range doc.Type.Links {
		if f.Index < 0 || f.IgnoreUserPermissions || doc.TextAt(f.Index) != "" {
			continue
		}
		bearing := bearingOn(caller.Restricted(f.Options), doc.Type, f.Options)
		if len(bearing) > 1 && !read {
			read = true
			var err error
			if marked, err = r.markedDefaults(ctx); err != nil {
				return err
			}
		}
		if len(bearing) > 1 {
			bearing = bearingOn(marked, doc.Type, f.Options)
		}
		if len(bearing) > 0 {
			doc.Values()[f.Index] = bearing[0].Value
		}
	}
	return nil
}

func bearingOn(all []identity.Restriction, dt *doctype.DocType, allow string) []identity.Restriction {
	return slices.DeleteFunc(slices.Clone(all), func(up identity.Restriction) bool { return up.Allow != allow || !bears(&up, dt) })
}

// markedDefaults reads the caller's User Permissions with is_default.
func (r *Rights) markedDefaults(ctx context.Context) ([]identity.Restriction, error) {
	dt := r.Schema.DocType("User Permission")
	if dt == nil {
		return nil, nil
	}
	sel := &doctype.Select{DocType: dt, Where: doctype.AllOf{
		comparison(dt.Field("user"), query.Eq, r.Caller.User),
		comparison(dt.Field("is_default"), query.Eq, int64(1)),
	}}
	for _, name := range []string{"allow", "for_value", "apply_to_all_doctypes", "applicable_for"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name})
	}
	var all []identity.Restriction
	err := r.Tx.Rows(ctx, sel, func(v []any) error {
		up := identity.Restriction{}
		up.Allow, _ = v[0].(string)
		up.Value, _ = v[1].(string)
		if v[2] != int64(1) {
			up.For, _ = v[3].(string)
		}
		all = append(all, up)
		return nil
	})
	return all, err
}
