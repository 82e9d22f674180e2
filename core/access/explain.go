package access

import (
	"context"
	"fmt"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// Explanation says why a caller may or may not do something.
type Explanation struct {
	Allowed bool     `json:"allowed"`
	User    string   `json:"user"`
	DocType string   `json:"doctype"`
	Name    string   `json:"name,omitempty"`
	Right   string   `json:"right"`
	Roles   []string `json:"roles"`
	Because []string `json:"because"` // the rules that decided, in the order they were asked
}

// Explain says which rule allows or refuses the caller one right on a DocType, or,
// unless the name is empty, on one document of it, which get reads.
func (r *Rights) Explain(ctx context.Context, dt *doctype.DocType, name string, right Right, get func() (*doctype.Document, error)) (*Explanation, error) {
	caller := r.Caller
	x := &Explanation{User: caller.User, DocType: dt.Name, Name: name, Right: right.String(), Roles: caller.Roles, Because: []string{}}
	say := func(format string, args ...any) { x.Because = append(x.Because, fmt.Sprintf(format, args...)) }
	if err := r.InScope(dt, right); err != nil {
		say("the token's scopes do not reach %s on %s", right, dt.Name)
		return x, nil
	}
	if caller.Unchecked() {
		x.Allowed = true
		say("%s passes every check of roles", caller.User)
		return x, nil
	}
	sayRules(dt, caller, right, say)
	g, err := r.Guard(ctx, dt, right)
	if err != nil && fault.KindOf(err) != fault.Permission {
		return nil, err
	}
	if err != nil {
		say("no role of the user gives %s on %s, and nothing of it is shared with the user", right, dt.Name)
		return x, nil
	}
	for _, b := range g.broken {
		say("the rule of role %s gives nothing: its condition cannot be read: %s", b.Role, fault.From(b.Broken).Message)
	}
	for _, l := range g.limits {
		below := ""
		if l.tree != nil {
			below = ", and what is below those of the tree,"
		}
		say("User Permissions allow only %v%s in %s", l.values(false), below, l.field.Name)
	}
	if name == "" {
		x.Allowed = g.roles != None
		return x, nil
	}
	doc, err := get()
	if fault.KindOf(err) == fault.NotFound {
		say("%s %s does not exist", dt.Name, name)
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	return x, g.explain(ctx, doc, x, say)
}

// sayRules says what the rules give to whom.
func sayRules(dt *doctype.DocType, caller *identity.Caller, right Right, say func(string, ...any)) {
	for _, r := range dt.Permissions {
		if r.Broken != nil {
			say("role %s has a rule that gives nothing: its condition cannot be read: %s", r.Role, fault.From(r.Broken).Message)
			continue
		}
		if r.Level != 0 || r.Rights&right == 0 {
			continue
		}
		if !caller.HasRole(r.Role) {
			say("role %s has %s; the user does not have the role", r.Role, right)
			continue
		}
		say("role %s gives %s%s", r.Role, right, limitsOf(&r, right))
	}
}

func (g *Guard) explain(ctx context.Context, doc *doctype.Document, x *Explanation, say func(string, ...any)) error {
	err := g.Admit(ctx, doc)
	if err != nil {
		if fault.KindOf(err) != fault.Permission {
			return err
		}
		say("the document meets none of these rules and is not shared with the user")
		return nil
	}
	x.Allowed = true
	if g.extra != nil {
		say("the document is the user's, goes with one the user has the right on, or is shared with the user")
		return nil
	}
	byRole, err := g.admits(ctx, g.of.Tx, doc)
	switch {
	case err != nil:
		return err
	case !byRole:
		say("the document is shared with the user")
	case len(g.ways) == 0:
		say("the document meets these rules")
	}
	if !byRole {
		return nil
	}
	return g.explainWay(ctx, doc, say)
}

// explainWay names the rule that lets a document pass.
func (g *Guard) explainWay(ctx context.Context, doc *doctype.Document, say func(string, ...any)) error {
	for _, w := range g.ways {
		ok, err := meets(ctx, g.of.Tx, w.where, doc)
		if err != nil {
			return err
		}
		switch {
		case !ok:
		case w.rule == nil:
			say("the document is public")
			return nil
		default:
			say("the document meets the rule of role %s%s", w.rule.Role, limitsOf(w.rule, g.right))
			return nil
		}
	}
	return nil
}

// limitsOf says on which documents a rule gives a right.
func limitsOf(r *doctype.Rule, right Right) string {
	text := ""
	if limitsOwner(r, right) {
		text = " on documents the user owns"
	}
	if r.Condition != nil {
		text += " on documents that meet " + r.Text
	}
	return text
}
