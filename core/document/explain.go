package document

import (
	"context"
	"fmt"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
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

func (s *Service) explain(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name string, right permission.Right) (*Explanation, error) {
	dt, err := s.lookup(doctype)
	if err != nil {
		return nil, err
	}
	x := &Explanation{User: caller.User, DocType: doctype, Name: name, Right: right.String(), Roles: caller.Roles, Because: []string{}}
	say := func(format string, args ...any) { x.Because = append(x.Because, fmt.Sprintf(format, args...)) }
	if err := s.inScope(caller, dt, right); err != nil {
		say("the token's scopes do not reach %s on %s", right, doctype)
		return x, nil
	}
	if caller.Unchecked() {
		x.Allowed = true
		say("%s passes every check of roles", caller.User)
		return x, nil
	}
	for _, r := range dt.Permissions {
		if r.Level != 0 || r.Rights&right == 0 {
			continue
		}
		if !caller.HasRole(r.Role) {
			say("role %s has %s; the user does not have the role", r.Role, right)
			continue
		}
		say("role %s gives %s%s", r.Role, right, limitsOf(&r, right))
	}
	g, err := s.guard(ctx, tx, caller, dt, right)
	if err != nil && fault.KindOf(err) != fault.Permission {
		return nil, err
	}
	if err != nil {
		say("no role of the user gives %s on %s, and nothing of it is shared with the user", right, doctype)
		return x, nil
	}
	for _, l := range g.limits {
		say("User Permissions allow only %v in %s", l.values, l.field.Name)
	}
	if name == "" {
		x.Allowed = g.access != permission.None
		return x, nil
	}
	doc, err := tx.Get(ctx, s.Schema(), dt, name, false)
	if fault.KindOf(err) == fault.NotFound {
		say("%s %s does not exist", doctype, name)
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	return x, s.explainDocument(ctx, tx, g, doc, x, say)
}

func (s *Service) explainDocument(ctx context.Context, tx Tx, g *guard, doc *doctype.Document, x *Explanation, say func(string, ...any)) error {
	err := g.admit(ctx, s, tx, doc)
	if err != nil {
		if fault.KindOf(err) != fault.Permission {
			return err
		}
		say("the document meets none of these rules and is not shared with the user")
		return nil
	}
	x.Allowed = true
	if g.beyond != nil {
		say("the document is the user's, goes with one the user has the right on, or is shared with the user")
		return nil
	}
	byRole, err := g.admits(ctx, tx, doc)
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
	return g.explainWay(ctx, tx, doc, say)
}

// explainWay names the rule that lets a document pass.
func (g *guard) explainWay(ctx context.Context, tx Tx, doc *doctype.Document, say func(string, ...any)) error {
	for _, w := range g.ways {
		ok, err := meets(ctx, tx, w.where, doc)
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
func limitsOf(r *permission.Rule, right permission.Right) string {
	text := ""
	if r.LimitsOwner(right) {
		text = " on documents the user owns"
	}
	if r.Condition != nil {
		text += " on documents that meet " + r.Text
	}
	return text
}

func (s *Service) rights(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name string) (map[string]int, error) {
	doc, err := s.get(ctx, tx, caller, doctype, name, permission.Read, false)
	if err != nil {
		return nil, err
	}
	rights := make(map[string]int)
	for _, n := range permission.Names() {
		right, _ := permission.ParseRight(n)
		err := s.mayDo(ctx, tx, caller, doc, right)
		if err != nil && fault.KindOf(err) != fault.Permission {
			return nil, err
		}
		rights[n] = b2i(err == nil)
	}
	return rights, nil
}
