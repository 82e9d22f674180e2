package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// limit is the User Permissions that bear on one field: its value must be one
// of those or, for a link, empty. One on a node of a tree covers what is below the
// node, unless it hides that.
type limit struct {
	field *doctype.Field
	allow string                 // the DocType whose documents are permitted
	on    []identity.Restriction // the caller's on allow
	dt    *doctype.DocType       // on documents of which they bear
	tree  *doctype.DocType       // allow, where some cover what is below; nil: none do
	empty bool                   // an empty value passes too
}

// manyValues is how many values of a limit go into a statement. More of them
// are looked up where they are stored, one for each row that is looked at.
const manyValues = 50

// bears reports whether a User Permission bears on documents of dt.
func bears(r *identity.Restriction, dt *doctype.DocType) bool { return r.For == "" || r.For == dt.Name }

// admits reports whether a document passes.
func (l *limit) admits(ctx context.Context, r *Rights, tx Reader, doc *doctype.Document) (bool, error) {
	v := doc.TextAt(l.field.Index)
	if v == "" && l.empty || slices.Contains(l.values(false), any(v)) {
		return true, nil
	}
	if l.tree == nil || v == "" {
		return false, nil
	}
	return meets(ctx, tx, l.below(r), doc)
}

// values are the documents that are permitted by name; covering are those alone
// that what is below them is permitted with.
func (l *limit) values(covering bool) []any {
	var all []any
	for i := range l.on {
		if up := &l.on[i]; bears(up, l.dt) && !(covering && up.HideDescendants) {
			all = append(all, up.Value)
		}
	}
	return all
}

// where is the limit as a condition on documents.
func (l *limit) where(r *Rights) doctype.Where {
	some := doctype.AnyOf{l.named(r, l.field, false)}
	if l.tree != nil {
		some = append(some, l.below(r))
	}
	if l.empty {
		some = append(some, comparison(l.field, query.Is, false))
	}
	if len(some) == 1 {
		return some[0]
	}
	return some
}

// named is that a field names a permitted document, or one that covers what is
// below it.
func (l *limit) named(r *Rights, f *doctype.Field, covering bool) doctype.Where {
	up := r.Schema.DocType("User Permission")
	if up == nil || !many(l.on, l.dt) {
		return comparison(f, query.In, l.values(covering))
	}
	where := doctype.AllOf{
		comparison(up.Field("user"), query.Eq, r.Caller.User),
		comparison(up.Field("allow"), query.Eq, l.allow),
		doctype.AnyOf{
			comparison(up.Field("apply_to_all_doctypes"), query.Eq, int64(1)),
			comparison(up.Field("applicable_for"), query.In, []any{l.dt.Name, ""}),
		},
	}
	if covering {
		where = append(where, comparison(up.Field("hide_descendants"), query.Eq, int64(0)))
	}
	return doctype.Some{Of: doctype.Operand{Field: f}, Target: up, Key: up.Field("for_value"), Where: where}
}

// below is that the field names a node below one that covers it.
func (l *limit) below(r *Rights) doctype.Where {
	parent := l.tree.ParentLink()
	return doctype.Some{Of: doctype.Operand{Field: l.field}, Target: l.tree, Key: l.tree.Columns[doctype.ColName], Where: l.named(r, parent, true), Below: parent}
}

// many reports whether too many of some User Permissions bear on documents of dt to
// go into a statement.
func many(all []identity.Restriction, dt *doctype.DocType) bool {
	n := 0
	for i := range all {
		if bears(&all[i], dt) {
			n++
		}
		if n > manyValues {
			return true
		}
	}
	return false
}

// limits collects the User Permissions that bear on the DocType, by field.
func (r *Rights) limits(dt *doctype.DocType) []limit {
	caller := r.Caller
	if len(caller.Restrictions) == 0 || caller.Unchecked() {
		return nil
	}
	var all []limit
	add := func(f *doctype.Field, allow string, empty bool) {
		l := limit{field: f, allow: allow, on: caller.Restricted(allow), dt: dt, empty: empty}
		if !slices.ContainsFunc(l.on, func(up identity.Restriction) bool { return bears(&up, dt) }) {
			return
		}
		covers := func(up identity.Restriction) bool { return bears(&up, dt) && !up.HideDescendants }
		if tree := r.Schema.DocType(allow); tree != nil && tree.ParentLink() != nil && slices.ContainsFunc(l.on, covers) {
			l.tree = tree
		}
		all = append(all, l)
	}
	add(dt.Columns[doctype.ColName], dt.Name, false)
	for _, f := range dt.Links {
		if f.Index < 0 || f.IgnoreUserPermissions || f == dt.ParentLink() {
			continue // a permitted node stands below others
		}
		add(f, f.Options, true)
	}
	return all
}
