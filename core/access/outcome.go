package access

import (
	"context"
	"slices"

	"armature/core/doctype"
)

// Outcome holds a change to what the caller may write: it must not lead out of
// that. What leads back to the document through others is asked when the change
// is stored, since it is seen there only then; anything else before, so that
// what is refused costs no write. nil asks nothing.
type Outcome struct{ guard *Guard }

// Outcome is for a change of a stored document of dt.
func (r *Rights) Outcome(ctx context.Context, dt *doctype.DocType) (*Outcome, error) {
	if len(r.Caller.Restrictions) == 0 && !conditional(dt.Permissions) {
		return nil, nil
	}
	g, err := r.Guard(ctx, dt, Write)
	if err != nil {
		return nil, err
	}
	return &Outcome{g}, nil
}

// Outcome is for a document that is made.
func (g *Guard) Outcome() *Outcome { return &Outcome{g} }

// Admit is asked of the document as it shall be stored, Stored of the same when
// it is.
func (o *Outcome) Admit(ctx context.Context, doc *doctype.Document) error {
	if o == nil || o.guard.leadsBack() {
		return nil
	}
	return o.guard.Admit(ctx, doc)
}

// Stored is asked of the document once it is stored.
func (o *Outcome) Stored(ctx context.Context, doc *doctype.Document) error {
	if o == nil || !o.guard.leadsBack() {
		return nil
	}
	g, err := o.guard.of.Guard(ctx, o.guard.dt, o.guard.right) // what stands below a node has changed
	if err != nil {
		return err
	}
	return g.Admit(ctx, doc)
}

// leadsBack reports whether a rule looks into documents of the DocType by links,
// or where in their tree the document stands decides.
func (g *Guard) leadsBack() bool {
	byTree := func(l limit) bool { return l.allow == g.dt.Name && g.dt.ParentLink() != nil }
	return leadsTo(g.anyWay(), g.dt) || slices.ContainsFunc(g.limits, byTree)
}

// leadsTo reports whether a condition looks into documents of dt by links.
func leadsTo(w doctype.Where, dt *doctype.DocType) bool {
	there := func(part doctype.Where) bool { return leadsTo(part, dt) }
	switch w := w.(type) {
	case doctype.Some:
		return w.Target.Name == dt.Name || leadsTo(w.Where, dt)
	case doctype.AllOf:
		return slices.ContainsFunc(w, there)
	case doctype.AnyOf:
		return slices.ContainsFunc(w, there)
	}
	return false
}
