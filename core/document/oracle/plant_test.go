package oracle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

// plant is a hole made in the server: what it asks of its store loses a
// predicate, what it reads of rights is another, or its DocTypes are.
type plant struct {
	name   string
	where  func(doctype.Where) doctype.Where // of each part of a filter; nil: it stays
	list   func(*doctype.Select)
	row    func(*doctype.Select, []any)
	schema func(*doctype.DocType)
}

var (
	always = doctype.Where(doctype.AllOf{})
	never  = doctype.Where(doctype.AnyOf{})
)

// compares replaces comparisons of a field, of one DocType's if that is said.
func compares(field string, with doctype.Where, ops ...query.Op) func(doctype.Where) doctype.Where {
	return func(w doctype.Where) doctype.Where {
		if c, ok := w.(doctype.Compare); ok && c.Field.Name == field && (len(ops) == 0 || slices.Contains(ops, c.Op)) {
			return with
		}
		return w
	}
}

// asks replaces what is asked of other documents.
func asks(which func(*doctype.Some) bool, with func(doctype.Some) doctype.Where) func(doctype.Where) doctype.Where {
	return func(w doctype.Where) doctype.Where {
		if s, ok := w.(doctype.Some); ok && which(&s) {
			return with(s)
		}
		return w
	}
}

func of(name string) func(*doctype.Some) bool {
	return func(s *doctype.Some) bool { return s.Target.Name == name }
}

func yes(doctype.Some) doctype.Where { return always }

func everyField(change func(*doctype.Field)) func(*doctype.DocType) {
	return func(dt *doctype.DocType) {
		for _, f := range slices.Concat(dt.Fields, dt.Columns, dt.Tables) {
			change(f)
		}
	}
}

func column(name string, value any) func(*doctype.Select, []any) {
	return func(sel *doctype.Select, values []any) {
		for i, c := range sel.Columns {
			if sel.DocType.Name == "User Permission" && c.Key == name {
				values[i] = value
			}
		}
	}
}

var plants = []plant{
	{name: "who owns a document is not asked", where: compares("owner", always, query.Eq)},
	{name: "long lists of User Permissions are not asked", where: asks(of("User Permission"), yes)},
	{name: "User Permissions on the documents themselves are not asked", where: compares("name", always, query.In)},
	{name: "User Permissions on links are not asked", where: func(w doctype.Where) doctype.Where {
		if c, ok := w.(doctype.Compare); ok && c.Field.IsLink() && c.Op == query.In {
			return always
		}
		return w
	}},
	{name: "an empty link is refused", where: func(w doctype.Where) doctype.Where {
		if c, ok := w.(doctype.Compare); ok && c.Field.IsLink() && c.Op == query.Is && c.Value == false {
			return never
		}
		return w
	}},
	{name: "shares are not asked", where: asks(of("DocShare"), func(doctype.Some) doctype.Where { return never })},
	{name: "shares with others count", where: compares("user", always)},
	{name: "shares without read count", where: compares("read", always)},
	{name: "shares of other DocTypes count", where: compares("share_doctype", always)},
	{name: "shares with everyone do not count", where: compares("everyone", never)},
	{name: "a link shows what is hidden", list: func(sel *doctype.Select) {
		sel.Joins = slices.Clone(sel.Joins)
		for i := range sel.Joins {
			sel.Joins[i].On = nil
		}
	}},
	{name: "a link to what is hidden takes the row away", list: func(sel *doctype.Select) {
		for _, j := range sel.Joins {
			if j.On != nil {
				sel.Where = doctype.AllOf{sel.Where, j.On}
			}
		}
	}},
	{name: "rows come without their documents", where: asks(func(s *doctype.Some) bool { return s.Of.Field.Name == "parent" }, yes)},
	{name: "rows of hidden tables come", where: compares("parentfield", always, query.In)},
	{name: "rows of one table are those of the other", where: compares("parentfield", always, query.Eq)},
	{name: "has no is has", where: asks(func(s *doctype.Some) bool { return s.Via != nil && s.Not }, func(s doctype.Some) doctype.Where { s.Not = false; return s })},
	{name: "rules do not look through links", where: asks(func(s *doctype.Some) bool { return s.Of.Field.IsLink() && s.Key.Name == "name" }, yes)},
	{name: "every rule must hold", where: func(w doctype.Where) doctype.Where {
		if any, ok := w.(doctype.AnyOf); ok && len(any) > 1 {
			return doctype.AllOf(any)
		}
		return w
	}},
	{name: "hide_descendants is not read", row: column("hide_descendants", int64(0))},
	{name: "applicable_for is not read", row: column("apply_to_all_doctypes", int64(1))},
	{name: "levels of fields are not asked", schema: everyField(func(f *doctype.Field) { f.PermLevel = 0 })},
	{name: "levels of tables are not asked", schema: everyField(func(f *doctype.Field) {
		if f.Kind == doctype.Rows {
			f.PermLevel = 0
		}
	})},
	{name: "ignore_user_permissions is not read", schema: everyField(func(f *doctype.Field) { f.IgnoreUserPermissions = false })},
	{name: "if_owner is not read", schema: func(dt *doctype.DocType) {
		for i := range dt.Permissions {
			dt.Permissions[i].IfOwner = false
		}
	}},
	{name: "conditions are not read", schema: func(dt *doctype.DocType) {
		for i := range dt.Permissions {
			dt.Permissions[i].Condition = nil
		}
	}},
	{name: "select shows every field", schema: func(dt *doctype.DocType) {
		for _, f := range dt.Columns {
			dt.Search = append(slices.Clip(dt.Search), f.Name)
		}
	}},
}

// planted is a store with a hole.
type planted struct {
	document.Store
	hole *atomic.Pointer[plant]
}

func (s planted) Read(ctx context.Context, fn func(document.Tx) error) error {
	return s.Store.Read(ctx, func(tx document.Tx) error { return fn(plantedTx{tx, s.hole}) })
}

func (s planted) View(ctx context.Context, _ *document.ViewHistory, fn func(document.Tx) error) error {
	return s.Store.View(ctx, nil, func(tx document.Tx) error { return fn(plantedTx{tx, s.hole}) })
}

func (s planted) Write(ctx context.Context, mode document.Mode, fn func(document.Tx) error) error {
	return s.Store.Write(ctx, mode, func(tx document.Tx) error { return fn(plantedTx{tx, s.hole}) })
}

type plantedTx struct {
	document.Tx
	hole *atomic.Pointer[plant]
}

func (tx plantedTx) AppendRows(ctx context.Context, dst []byte, sel *doctype.Select, asArrays bool) ([]byte, int, error) {
	return tx.Tx.AppendRows(ctx, dst, tx.hole.Load().asked(sel), asArrays)
}

func (tx plantedTx) Count(ctx context.Context, sel *doctype.Select) (int64, error) {
	return tx.Tx.Count(ctx, tx.hole.Load().asked(sel))
}

func (tx plantedTx) Rows(ctx context.Context, sel *doctype.Select, fn func([]any) error) error {
	hole := tx.hole.Load()
	return tx.Tx.Rows(ctx, hole.asked(sel), func(values []any) error {
		if hole != nil && hole.row != nil {
			hole.row(sel, values)
		}
		return fn(values)
	})
}

// asked is a list as the hole lets it through.
func (p *plant) asked(sel *doctype.Select) *doctype.Select {
	if p == nil {
		return sel
	}
	out := *sel
	if p.list != nil {
		p.list(&out)
	}
	if p.where != nil {
		out.Where = p.edit(out.Where)
		out.Joins = slices.Clone(out.Joins)
		for i := range out.Joins {
			out.Joins[i].On = p.edit(out.Joins[i].On)
		}
	}
	return &out
}

func (p *plant) edit(w doctype.Where) doctype.Where {
	switch part := w.(type) {
	case nil:
		return nil
	case doctype.AllOf:
		all := make(doctype.AllOf, len(part))
		for i := range part {
			all[i] = p.edit(part[i])
		}
		w = all
	case doctype.AnyOf:
		any := make(doctype.AnyOf, len(part))
		for i := range part {
			any[i] = p.edit(part[i])
		}
		w = any
	case doctype.Some:
		part.Where = p.edit(part.Where)
		w = part
	}
	return p.where(w)
}

// Every hole in the server is found in a minute.
func TestPlantedHolesAreFound(t *testing.T) {
	g := &garden{left: slices.Clone(plants), spent: map[string]time.Duration{}}
	for seed := uint64(1); len(g.left) > 0; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { g.search(t, seed) })
	}
}

// garden is the holes that were not found yet, of which one at a time is open.
type garden struct {
	hole  atomic.Pointer[plant]
	left  []plant
	spent map[string]time.Duration
}

func (g *garden) search(t *testing.T, seed uint64) {
	s := sitetest.New(t, "", func(c *sites.Config) { c.Wrap = func(s document.Store) document.Store { return planted{s, &g.hole} } })
	w := drawWorld(seed)
	w.serve(t, s)
	g.left = slices.DeleteFunc(g.left, func(p plant) bool {
		begun := time.Now()
		found := g.find(t, s, w, &p, seed)
		g.spent[p.name] += time.Since(begun)
		switch {
		case found:
			t.Logf("%s: found in %s", p.name, g.spent[p.name].Round(time.Millisecond))
		case g.spent[p.name] > time.Minute:
			t.Errorf("%s: was not found in a minute", p.name)
		default:
			return false
		}
		return true
	})
}

// find reports whether the questions of one world tell the server with a hole
// from the oracle.
func (g *garden) find(t *testing.T, s *sitetest.Server, w *world, p *plant, seed uint64) bool {
	g.hole.Store(p)
	if p.schema != nil {
		for dt := range s.Tenant.Documents.Schema().All {
			if w.kind(dt.Name) != nil {
				p.schema(dt)
			}
		}
	}
	defer func() {
		g.hole.Store(nil)
		if p.schema != nil {
			reload(t, s)
		}
	}()
	var clients []*sitetest.Client
	for _, who := range w.callers {
		clients = append(clients, s.As(t, who.name)) // what is known of them is read anew
	}
	d := &drawer{rand.New(rand.NewPCG(seed, 2)), w}
	for range questions {
		if d.compare(t, clients) != "" {
			return true
		}
	}
	return false
}

// reload takes the DocTypes from the store again.
func reload(t *testing.T, s *sitetest.Server) {
	t.Helper()
	err := s.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		_, err := tx.BumpSchema(t.Context())
		return err
	})
	if err == nil {
		err = s.Tenant.Documents.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
