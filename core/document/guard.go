package document

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/query"
)

// guard answers whether one caller has one right on documents of one DocType.
// The rules of roles come first, then User Permissions, which only narrow; a
// DocShare opens a document that they close.
type guard struct {
	caller *identity.Caller
	dt     *doctype.DocType
	right  permission.Right
	access permission.Access
	limits []limit
	shared bool   // something of the DocType is shared with the caller
	beyond Beyond // decides first; nil: it has no say in this DocType
}

// guard makes the guard; a right the caller can have on no document at all is a
// fault, and so is one that the caller's token does not reach.
func (s *Service) guard(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, right permission.Right) (*guard, error) {
	if !inScope(caller, dt, right) {
		return nil, outOfScope(dt, right)
	}
	g := &guard{caller: caller, dt: dt, right: right, access: permission.For(dt.Permissions, caller, right)}
	if caller.Unchecked() {
		return g, nil
	}
	if s.beyond != nil && s.beyond.Covers(dt.Name) {
		g.beyond = s.beyond
	}
	g.shared = shareable(right) && slices.Contains(caller.Shared, dt.Name)
	if g.access == permission.None && !g.shared {
		return nil, denied(caller, dt, right, "")
	}
	var err error
	g.limits, err = s.limits(ctx, tx, caller, dt)
	return g, err
}

// shareable lists the rights a DocShare can give.
func shareable(right permission.Right) bool {
	switch right {
	case permission.Read, permission.Write, permission.Submit, permission.Share:
		return true
	}
	return false
}

// open reports whether every document passes without a look at it.
func (g *guard) open() bool {
	return g.access == permission.Full && len(g.limits) == 0 && g.beyond == nil
}

// admits reports whether the roles and User Permissions alone let a document
// with these values pass; shares are not asked.
func (g *guard) admits(values []any) bool { return g.beyond == nil && g.byRules(values) }

func (g *guard) byRules(values []any) bool {
	if g.access == permission.None {
		return false
	}
	for _, l := range g.limits {
		v, _ := values[l.field.Index].(string)
		if !(v == "" && l.empty) && !slices.Contains(l.values, any(v)) {
			return false
		}
	}
	if g.access == permission.Full {
		return true
	}
	for _, f := range g.dt.Owners {
		if values[f.Index] == g.caller.User {
			return true
		}
	}
	return g.right == permission.Read && g.dt.Public != nil && values[g.dt.Public.Index] == int64(1)
}

// admit is admits with everything else asked, and a fault for no.
func (g *guard) admit(ctx context.Context, s *Service, tx Tx, values []any) error {
	if g.open() || g.admits(values) {
		return nil
	}
	name, _ := values[doctype.ColName].(string)
	if g.beyond != nil {
		switch verdict, err := g.beyond.Decide(ctx, tx, g.caller, doctype.LoadDocument(g.dt, values), g.right); {
		case err != nil, verdict == Allow && g.access != permission.None:
			return err
		case verdict == Refuse:
			return denied(g.caller, g.dt, g.right, name)
		}
	}
	if g.byRules(values) {
		return nil
	}
	if g.shared {
		names, err := g.shares(ctx, s, tx, name)
		if err != nil || len(names) > 0 {
			return err
		}
	}
	return denied(g.caller, g.dt, g.right, name)
}

// shares lists the documents of the DocType shared with the caller with this
// right; only the named one unless name is empty.
func (g *guard) shares(ctx context.Context, s *Service, tx Tx, name string) ([]any, error) {
	dt := s.Schema().DocType("DocShare")
	if dt == nil || g.caller.IsGuest() {
		return nil, nil
	}
	where := doctype.AllOf{
		doctype.Compare{Operand: doctype.Operand{Field: dt.Field("share_doctype")}, Op: query.Eq, Value: g.dt.Name},
		doctype.Compare{Operand: doctype.Operand{Field: dt.Field(g.right.String())}, Op: query.Eq, Value: int64(1)},
		doctype.AnyOf{
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("user")}, Op: query.Eq, Value: g.caller.User},
			doctype.Compare{Operand: doctype.Operand{Field: dt.Field("everyone")}, Op: query.Eq, Value: int64(1)},
		},
	}
	if name != "" {
		where = append(where, doctype.Compare{Operand: doctype.Operand{Field: dt.Field("share_name")}, Op: query.Eq, Value: name})
	}
	var names []any
	err := tx.Rows(ctx, &doctype.Select{
		DocType: dt, Where: where,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("share_name")}, Key: "share_name"}},
	}, func(v []any) error {
		names = append(names, v[0])
		return nil
	})
	return names, err
}

// where is the guard as a condition on a list; nil when every row passes.
func (g *guard) where(ctx context.Context, s *Service, tx Tx) (doctype.Where, error) {
	if g.open() {
		return nil, nil
	}
	var seen doctype.Where = doctype.AnyOf{} // never
	if g.access != permission.None {
		seen = g.byRole()
	}
	if g.shared {
		names, err := g.shares(ctx, s, tx, "")
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			seen = doctype.AnyOf{seen, doctype.Compare{Operand: doctype.Operand{Field: g.dt.Columns[doctype.ColName]}, Op: query.In, Value: names}}
		}
	}
	if g.beyond == nil {
		return seen, nil
	}
	within, more, err := g.beyond.Seen(ctx, tx, g.caller)
	if within != nil {
		seen = doctype.AllOf{within, seen}
	}
	if more != nil && g.access != permission.None {
		seen = doctype.AnyOf{seen, more}
	}
	return seen, err
}

func (g *guard) byRole() doctype.Where {
	var all doctype.AllOf
	for _, l := range g.limits {
		in := doctype.Compare{Operand: doctype.Operand{Field: l.field}, Op: query.In, Value: l.values}
		if l.empty {
			all = append(all, doctype.AnyOf{in, doctype.Compare{Operand: doctype.Operand{Field: l.field}, Op: query.Is, Value: false}})
		} else {
			all = append(all, in)
		}
	}
	if g.access == permission.Full {
		return all
	}
	var mine doctype.AnyOf
	for _, f := range g.dt.Owners {
		mine = append(mine, doctype.Compare{Operand: doctype.Operand{Field: f}, Op: query.Eq, Value: g.caller.User})
	}
	if g.right == permission.Read && g.dt.Public != nil {
		mine = append(mine, doctype.Compare{Operand: doctype.Operand{Field: g.dt.Public}, Op: query.Eq, Value: int64(1)})
	}
	return append(all, mine)
}

func denied(caller *identity.Caller, dt *doctype.DocType, right permission.Right, name string) error {
	what := dt.Name
	if name != "" {
		what += " " + name
	}
	e := fault.Denied("User %s does not have %s access to %s", caller.User, right, what)
	e.Quiet = true
	return e
}
