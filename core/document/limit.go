package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// limit is the User Permissions that bear on one field: its value must be one
// of those, or, for a link, empty.
type limit struct {
	field  *doctype.Field
	values []any
	empty  bool // an empty value passes too
}

// limits collects the User Permissions that bear on the DocType, by field. One
// on a node of a tree covers what is below the node, unless it hides that.
func (s *Service) limits(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType) ([]limit, error) {
	if len(caller.Restrictions) == 0 || caller.Unchecked() {
		return nil, nil
	}
	var all []limit
	add := func(f *doctype.Field, doctype string, empty bool) error {
		values, err := s.permitted(ctx, tx, caller, dt, doctype)
		if len(values) > 0 {
			all = append(all, limit{f, values, empty})
		}
		return err
	}
	if err := add(dt.Columns[doctype.ColName], dt.Name, false); err != nil {
		return nil, err
	}
	for _, f := range dt.Links {
		if f.Index < 0 || f.IgnoreUserPermissions || f == parentOf(dt) {
			continue // a permitted node stands below others
		}
		if err := add(f, f.Options, true); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// permitted lists the documents of allow to which User Permissions narrow the
// caller in documents of dt; none when they do not.
func (s *Service) permitted(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, allow string) ([]any, error) {
	var values, roots []any
	for _, r := range caller.Restrictions {
		if r.Allow != allow || r.For != "" && r.For != dt.Name {
			continue
		}
		values = append(values, r.Value)
		if !r.HideDescendants {
			roots = append(roots, r.Value)
		}
	}
	target := s.Schema().DocType(allow)
	if len(roots) == 0 || target == nil || parentOf(target) == nil {
		return values, nil
	}
	below, err := s.descendants(ctx, tx, target, roots)
	return append(values, below...), err
}

// defaultLinks fills the links of a new document that User Permissions have a
// default for: the one marked so, or the only one there is.
func (s *Service) defaultLinks(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document) error {
	if len(caller.Restrictions) == 0 || caller.Unchecked() {
		return nil
	}
	var marked []identity.Restriction
	read := false
	for _, f := range doc.Type.Links {
		if f.Index < 0 || f.IgnoreUserPermissions || doc.TextAt(f.Index) != "" {
			continue
		}
		bearing := bearingOn(caller.Restrictions, doc.Type, f.Options)
		if len(bearing) > 1 && !read {
			read = true
			var err error
			if marked, err = s.markedDefaults(ctx, tx, caller); err != nil {
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
	return slices.DeleteFunc(slices.Clone(all), func(r identity.Restriction) bool {
		return r.Allow != allow || r.For != "" && r.For != dt.Name
	})
}

// markedDefaults reads the caller's User Permissions with is_default.
func (s *Service) markedDefaults(ctx context.Context, tx Tx, caller *identity.Caller) ([]identity.Restriction, error) {
	dt := s.Schema().DocType("User Permission")
	if dt == nil {
		return nil, nil
	}
	sel := &doctype.Select{DocType: dt, Where: doctype.AllOf{
		doctype.Compare{Operand: doctype.Operand{Field: dt.Field("user")}, Op: query.Eq, Value: caller.User},
		doctype.Compare{Operand: doctype.Operand{Field: dt.Field("is_default")}, Op: query.Eq, Value: int64(1)},
	}}
	for _, name := range []string{"allow", "for_value", "apply_to_all_doctypes", "applicable_for"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name})
	}
	var all []identity.Restriction
	err := tx.Rows(ctx, sel, func(v []any) error {
		r := identity.Restriction{}
		r.Allow, _ = v[0].(string)
		r.Value, _ = v[1].(string)
		if v[2] != int64(1) {
			r.For, _ = v[3].(string)
		}
		all = append(all, r)
		return nil
	})
	return all, err
}
