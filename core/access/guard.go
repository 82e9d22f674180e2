package access

import (
	"context"
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// Guard answers whether one caller has one right on documents of one DocType.
// The rules of roles come first, then User Permissions, which only narrow; a
// DocShare opens a document that they close.
type Guard struct {
	of     *Rights
	dt     *doctype.DocType
	right  Right
	roles  Extent
	ways   []way          // to a limited extent: the rules, of which one has to let a document pass
	broken []doctype.Rule // those that give nothing, since their conditions cannot be resolved
	limits []limit
	shared doctype.Where // documents shared with the caller; nil: none can be
	extra  ExtraAccess   // decides first; nil: it has no say in this DocType
}

// way is one rule of which a document meets what it asks.
type way struct {
	rule  *doctype.Rule // nil: the document is public
	where doctype.Where
}

// Guard makes the guard; a right the caller can have on no document at all is a
// fault, and so is one that the caller's token does not reach.
func (r *Rights) Guard(ctx context.Context, dt *doctype.DocType, right Right) (*Guard, error) {
	if err := r.InScope(dt, right); err != nil {
		return nil, err
	}
	g := &Guard{of: r, dt: dt, right: right, roles: ByRole(dt.Permissions, r.Caller, right)}
	if r.Caller.Unchecked() {
		return g, nil
	}
	if r.Extra != nil && r.Extra.Covers(dt.Name) {
		g.extra = r.Extra
	}
	g.shared = r.shared(dt, right)
	if g.roles == None && g.shared == nil {
		return nil, Denied(r.Caller, dt, right, "")
	}
	if g.roles == Limited {
		g.addWays()
	}
	g.limits = r.limits(dt)
	return g, nil
}

// addWays collects what the caller's rules ask of a document. A rule whose
// condition names what is gone by now opens nothing.
func (g *Guard) addWays() {
	c := g.of.conditions()
	for r := range giving(g.dt.Permissions, g.of.Caller, g.right) {
		where, err := c.rule(g.dt, r, g.right)
		if err != nil {
			g.broken = append(g.broken, doctype.Rule{Role: r.Role, Broken: err})
			continue // it was logged when it was loaded
		}
		g.ways = append(g.ways, way{r, where})
	}
	if g.right == Read && g.dt.Public != nil {
		g.ways = append(g.ways, way{nil, comparison(g.dt.Public, query.Eq, int64(1))})
	}
}

// anyWay is that some rule lets a document pass.
func (g *Guard) anyWay() doctype.AnyOf {
	some := make(doctype.AnyOf, len(g.ways))
	for i, w := range g.ways {
		some[i] = w.where
	}
	return some
}

// rule is what one rule asks of a document.
func (c *conditions) rule(dt *doctype.DocType, r *doctype.Rule, right Right) (doctype.Where, error) {
	all := doctype.AllOf{}
	if limitsOwner(r, right) {
		var mine doctype.AnyOf
		for _, f := range dt.Owners {
			mine = append(mine, comparison(f, query.Eq, c.caller.User))
		}
		all = append(all, mine)
	}
	if r.Condition != nil {
		w, err := c.resolve(dt, r.Condition)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// shareable lists the rights a DocShare can give.
func shareable(right Right) bool {
	switch right {
	case Read, Write, Submit, Share:
		return true
	}
	return false
}

// shared is that a document of the DocType is shared with the caller with a
// right; nil where none is.
func (r *Rights) shared(dt *doctype.DocType, right Right) doctype.Where {
	share, caller := r.Schema.DocType("DocShare"), r.Caller
	if share == nil || caller.IsGuest() || !shareable(right) || !slices.Contains(caller.Shared, dt.Name) {
		return nil
	}
	return doctype.Some{Of: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Target: share, Key: share.Field("share_name"), Where: doctype.AllOf{
		comparison(share.Field("share_doctype"), query.Eq, dt.Name),
		comparison(share.Field(right.String()), query.Eq, int64(1)),
		doctype.AnyOf{
			comparison(share.Field("user"), query.Eq, caller.User),
			comparison(share.Field("everyone"), query.Eq, int64(1)),
		},
	}}
}

// Open reports whether every document passes without a look at it.
func (g *Guard) Open() bool {
	return g.roles == Full && len(g.limits) == 0 && g.extra == nil
}

// Plain reports whether a look at the document's own columns decides, shares
// aside.
func (g *Guard) Plain() bool {
	inTree := func(l limit) bool { return l.tree != nil }
	return g.extra == nil && !asksOthers(g.anyWay()) && !slices.ContainsFunc(g.limits, inTree)
}

// admits reports whether the roles and User Permissions let a document pass;
// shares are not asked.
func (g *Guard) admits(ctx context.Context, tx Reader, doc *doctype.Document) (bool, error) {
	if g.roles == None {
		return false, nil
	}
	for i := range g.limits {
		if ok, err := g.limits[i].admits(ctx, g.of, tx, doc); !ok || err != nil {
			return false, err
		}
	}
	if g.roles == Full {
		return true, nil
	}
	return meets(ctx, tx, g.anyWay(), doc)
}

// AdmitsRow reports whether the roles and User Permissions let the row of a
// document pass, with values in the order of its columns. It reads nothing: the
// guard is Plain.
func (g *Guard) AdmitsRow(ctx context.Context, values []any) (bool, error) {
	return g.admits(ctx, nil, doctype.LoadDocument(g.dt, values))
}

// Admit refuses, as a fault, a document on which the caller does not have the right.
func (g *Guard) Admit(ctx context.Context, doc *doctype.Document) error {
	if g.Open() {
		return nil
	}
	if g.extra != nil {
		switch verdict, err := g.extra.Decide(ctx, doc, g.right); {
		case err != nil, verdict == Allow && g.roles != None:
			return err
		case verdict == Refuse:
			return Denied(g.of.Caller, g.dt, g.right, doc.Name())
		}
	}
	if ok, err := g.admits(ctx, g.of.Tx, doc); ok || err != nil {
		return err
	}
	if g.shared != nil {
		if ok, err := meets(ctx, g.of.Tx, g.shared, doc); ok || err != nil {
			return err
		}
	}
	return Denied(g.of.Caller, g.dt, g.right, doc.Name())
}

// Where is the guard as a condition on a list; nil when every row passes.
func (g *Guard) Where(ctx context.Context) (doctype.Where, error) {
	if g.Open() {
		return nil, nil
	}
	var seen doctype.Where = doctype.AnyOf{} // never
	if g.roles != None {
		seen = g.byRole()
	}
	if g.shared != nil {
		seen = doctype.AnyOf{seen, g.shared}
	}
	if g.extra == nil {
		return seen, nil
	}
	within, more, err := g.extra.Seen(ctx)
	if within != nil {
		seen = doctype.AllOf{within, seen}
	}
	if more != nil && g.roles != None {
		seen = doctype.AnyOf{seen, more}
	}
	return seen, err
}

func (g *Guard) byRole() doctype.Where {
	var all doctype.AllOf
	for i := range g.limits {
		all = append(all, g.limits[i].where(g.of))
	}
	if g.roles == Full {
		return all
	}
	return append(all, g.anyWay())
}
