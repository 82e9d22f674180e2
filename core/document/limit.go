package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// limit is the User Permissions that bear on one field: its value must be one
// of those or, for a link, empty.
type limit struct {
	field  *doctype.Field
	allow  string // the DocType whose documents are permitted
	values []any
	empty  bool // an empty value passes too
}

// manyValues is how many values of a limit go into a statement. More of them
// are looked up where they are stored, one for each row that is looked at.
const manyValues = 50

// admits reports whether a document with these values passes.
func (l *limit) admits(values []any) bool {
	v, _ := values[l.field.Index].(string)
	return v == "" && l.empty || slices.Contains(l.values, any(v))
}

// where is the limit as a condition on documents of dt.
func (l *limit) where(sc *doctype.Schema, caller *identity.Caller, dt *doctype.DocType) doctype.Where {
	of := doctype.Operand{Field: l.field}
	in := doctype.Where(comparison(l.field, query.In, l.values))
	if up := sc.DocType("User Permission"); up != nil && len(l.values) > manyValues && !isTree(sc, l.allow) {
		in = doctype.Some{Of: of, Target: up, Key: up.Field("for_value"), Where: doctype.AllOf{
			comparison(up.Field("user"), query.Eq, caller.User),
			comparison(up.Field("allow"), query.Eq, l.allow),
			doctype.AnyOf{
				comparison(up.Field("apply_to_all_doctypes"), query.Eq, int64(1)),
				comparison(up.Field("applicable_for"), query.In, []any{dt.Name, ""}),
			},
		}}
	}
	if !l.empty {
		return in
	}
	return doctype.AnyOf{in, comparison(l.field, query.Is, false)}
}

func isTree(sc *doctype.Schema, doctype string) bool {
	dt := sc.DocType(doctype)
	return dt != nil && parentOf(dt) != nil
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
			all = append(all, limit{f, doctype, values, empty})
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
	below, err := s.descendants(ctx, tx, target, roots, nil)
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
		comparison(dt.Field("user"), query.Eq, caller.User),
		comparison(dt.Field("is_default"), query.Eq, int64(1)),
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
