package auth

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// invitationName is the DocType by which a System Manager invites somebody. What is
// withdrawn is deleted.
const invitationName = "User Invitation"

// How an invitation stands.
const (
	invitationSent     = "Sent"
	invitationAccepted = "Accepted"
)

// invitation is the life of one: it is made once, and a letter goes out with its commit.
func (h hooks) invitation(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.BeforeValidate:
		if ev.Before != nil {
			return fault.Denied("An invitation is not changed: withdraw it, and invite anew")
		}
		return h.checkInvitation(ctx, ev)
	case document.AfterInsert:
		return h.sendInvitation(ctx, ev)
	case document.OnTrash:
		return h.s.sweep(ctx, ev.Tx, &doctype.Select{
			DocType: h.s.signUps, Columns: columns(h.s.signUps, "name"), Where: equals(h.s.signUps, "invitation", ev.Doc.Name()),
		})
	case document.AfterDelete:
		return h.s.Record(ctx, ev.Tx, Activity{
			Operation: "Sign Up", User: ev.Caller.User, Subject: "The invitation of " + ev.Doc.Text("email") + " was deleted",
		}.Did(ev.Caller))
	}
	return nil
}

func (h hooks) checkInvitation(ctx context.Context, ev *document.Event) error {
	doc, s := ev.Doc, h.s
	if s.invite == nil || s.documents == nil {
		return fault.Denied("Nobody is invited here")
	}
	if err := s.mayInvite(); err != nil {
		return err
	}
	email, err := cleanEmail(strings.TrimSpace(doc.Text("email")))
	if err != nil {
		return err
	}
	if strings.HasSuffix(email, pluginDomain) {
		return fault.Invalid("InvalidEmailAddressError", "%s is no address", email)
	}
	known, err := s.isUser(ctx, ev.Tx, email)
	if err != nil {
		return err
	}
	if known {
		return fault.Invalid("", "%s is a user already", email)
	}
	if i := slices.IndexFunc(doc.Rows("roles"), func(row *doctype.Document) bool { return Automatic(row.Text("role")) }); i >= 0 {
		return fault.Invalid("", "The role %s is given to nobody", doc.Rows("roles")[i].Text("role"))
	}
	if err := s.mayGiveRoles(ctx, ev.Tx, ev.Caller); err != nil {
		return err
	}
	doc.Put("email", email)
	doc.Put("invited_by", ev.Caller.User)
	doc.Put("status", invitationSent)
	doc.Put("expires", doctype.FormatDatetime(s.now().Add(invitationLife)))
	return nil
}

// mayGiveRoles refuses who may not give users roles.
func (s *Service) mayGiveRoles(_ context.Context, _ document.Tx, caller *identity.Caller) error {
	if caller.HasRole(identity.SystemManager) || caller.IsAdministrator() {
		return nil
	}
	return fault.Denied("Only a System Manager invites people")
}

func (h hooks) sendInvitation(ctx context.Context, ev *document.Event) error {
	up := &SignUp{Email: ev.Doc.Text("email"), First: ev.Doc.Text("first_name"), By: ev.Caller.FullName, Key: random(resetBytes), Lives: invitationLife}
	if err := h.s.putSignUp(ctx, ev.Tx, up, ev.Doc.Name()); err != nil {
		return err
	}
	ev.Tx.AfterCommit(func() { h.s.invite(up) })
	return h.s.Record(ctx, ev.Tx, Activity{
		Operation: "Sign Up", User: ev.Caller.User, Subject: up.Email + " was invited: " + strings.Join(roleNames(ev.Doc), ", "),
	}.Did(ev.Caller))
}

// names reads a list of texts, as they are written; one text is a list of one.
func (s *Service) names(key string) (list []string) {
	raw := s.setting(key)
	if len(raw) > 0 && json.Unmarshal(raw, &list) != nil {
		list = nil
		if one := s.text(key); one != "" {
			list = []string{one}
		}
	}
	return list
}
