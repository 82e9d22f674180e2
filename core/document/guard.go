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
	ways   []way // with limited access: the rules, of which one has to let a document pass
	limits []limit
	shared doctype.Where // documents shared with the caller; nil: none can be
	beyond Beyond        // decides first; nil: it has no say in this DocType
}

// way is one rule of which a document meets what it asks.
type way struct {
	rule  *permission.Rule // nil: the document is public
	where doctype.Where
}

// guard makes the guard; a right the caller can have on no document at all is a
// fault, and so is one that the caller's token does not reach.
func (s *Service) guard(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, right permission.Right) (*guard, error) {
	if err := s.inScope(caller, dt, right); err != nil {
		return nil, err
	}
	g := &guard{caller: caller, dt: dt, right: right, access: permission.For(dt.Permissions, caller, right)}
	if caller.Unchecked() {
		return g, nil
	}
	if s.beyond != nil && s.beyond.Covers(dt.Name) {
		g.beyond = s.beyond
	}
	g.shared = s.sharedWith(caller, dt, right)
	if g.access == permission.None && g.shared == nil {
		return nil, denied(caller, dt, right, "")
	}
	if g.access == permission.Limited {
		s.addWays(g)
	}
	var err error
	g.limits, err = s.limits(ctx, tx, caller, dt)
	return g, err
}

// addWays collects what the caller's rules ask of a document. A rule whose
// condition names what is gone by now opens nothing.
func (s *Service) addWays(g *guard) {
	c := conditions{s.Schema(), g.caller, s.now()}
	for r := range permission.Of(g.dt.Permissions, g.caller, g.right) {
		where, err := c.rule(g.dt, r, g.right)
		if err != nil {
			s.log.Error("a permission rule cannot be read and gives nothing", "doctype", g.dt.Name, "role", r.Role, "error", err)
			continue
		}
		g.ways = append(g.ways, way{r, where})
	}
	if g.right == permission.Read && g.dt.Public != nil {
		g.ways = append(g.ways, way{nil, comparison(g.dt.Public, query.Eq, int64(1))})
	}
}

// anyWay is that some rule lets a document pass.
func (g *guard) anyWay() doctype.AnyOf {
	any := make(doctype.AnyOf, len(g.ways))
	for i, w := range g.ways {
		any[i] = w.where
	}
	return any
}

// rule is what one rule asks of a document.
func (c *conditions) rule(dt *doctype.DocType, r *permission.Rule, right permission.Right) (doctype.Where, error) {
	all := doctype.AllOf{}
	if r.LimitsOwner(right) {
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
func shareable(right permission.Right) bool {
	switch right {
	case permission.Read, permission.Write, permission.Submit, permission.Share:
		return true
	}
	return false
}

// sharedWith is that a document of the DocType is shared with the caller with a
// right; nil where none is.
func (s *Service) sharedWith(caller *identity.Caller, dt *doctype.DocType, right permission.Right) doctype.Where {
	share := s.Schema().DocType("DocShare")
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

// open reports whether every document passes without a look at it.
func (g *guard) open() bool {
	return g.access == permission.Full && len(g.limits) == 0 && g.beyond == nil
}

// plain reports whether a look at the document's own columns decides, shares
// aside.
func (g *guard) plain() bool { return g.beyond == nil && !asksOthers(g.anyWay()) }

// admits reports whether the roles and User Permissions let a document pass;
// shares are not asked.
func (g *guard) admits(ctx context.Context, tx reader, doc *doctype.Document) (bool, error) {
	if g.access == permission.None {
		return false, nil
	}
	for i := range g.limits {
		if !g.limits[i].admits(doc.Values()) {
			return false, nil
		}
	}
	if g.access == permission.Full {
		return true, nil
	}
	return meets(ctx, tx, g.anyWay(), doc)
}

// admitsRow is admits for the row of a document whose guard is plain.
func (g *guard) admitsRow(ctx context.Context, values []any) (bool, error) {
	return g.admits(ctx, nil, doctype.LoadDocument(g.dt, values))
}

// admit is admits with everything else asked, and a fault for no.
func (g *guard) admit(ctx context.Context, s *Service, tx Tx, doc *doctype.Document) error {
	if g.open() {
		return nil
	}
	if g.beyond != nil {
		switch verdict, err := g.beyond.Decide(ctx, tx, g.caller, doc, g.right); {
		case err != nil, verdict == Allow && g.access != permission.None:
			return err
		case verdict == Refuse:
			return denied(g.caller, g.dt, g.right, doc.Name())
		}
	}
	if ok, err := g.admits(ctx, tx, doc); ok || err != nil {
		return err
	}
	if g.shared != nil {
		if ok, err := meets(ctx, tx, g.shared, doc); ok || err != nil {
			return err
		}
	}
	return denied(g.caller, g.dt, g.right, doc.Name())
}

// where is the guard as a condition on a list; nil when every row passes.
func (g *guard) where(ctx context.Context, s *Service, tx Tx) (doctype.Where, error) {
	if g.open() {
		return nil, nil
	}
	var seen doctype.Where = doctype.AnyOf{} // never
	if g.access != permission.None {
		seen = g.byRole(s)
	}
	if g.shared != nil {
		seen = doctype.AnyOf{seen, g.shared}
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

func (g *guard) byRole(s *Service) doctype.Where {
	var all doctype.AllOf
	for i := range g.limits {
		all = append(all, g.limits[i].where(s.Schema(), g.caller, g.dt))
	}
	if g.access == permission.Full {
		return all
	}
	return append(all, g.anyWay())
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

// comparison is that a field of the documents in question compares so.
func comparison(f *doctype.Field, op query.Op, v any) doctype.Compare {
	return doctype.Compare{Operand: doctype.Operand{Field: f}, Op: op, Value: v}
}
