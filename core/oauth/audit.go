package oauth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/oauth/oauthstore"
)

// What is told of a grant that ends.
const (
	byToken = "Token revoked, all access ended"
	byUser  = "Access ended"
	byReuse = "A code or refresh token was used again, all access ended"
)

// ending makes the entry of a grant that ends; by nil: whoever has the token has
// ended it, and who that is nobody knows.
func (s *Service) ending(operation, status, subject string, by *identity.Caller) oauthstore.Ended {
	return func(ctx context.Context, tx document.Tx, g *oauthstore.Grant) error {
		name, err := s.called(ctx, tx, g.Client)
		if err != nil {
			return err
		}
		act := auth.Activity{
			Operation: operation, Status: status, User: g.User, By: identity.Guest, Client: g.Client,
			Subject: subject + ": " + name,
		}
		if by != nil {
			act = act.Did(by)
		}
		return s.c.Auth.Record(ctx, tx, act)
	}
}

// called is a client's name, or its id where it is gone.
func (s *Service) called(ctx context.Context, tx document.Tx, id string) (string, error) {
	sc := s.c.Catalog.Schema()
	dt, err := sc.Platform(clientName)
	if err != nil {
		return "", err
	}
	doc, err := tx.Get(ctx, sc, dt, id, false)
	if fault.KindOf(err) == fault.NotFound {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	return doc.Text("app_name"), nil
}

// recordAnswer keeps what a user has said at the consent page.
func (s *Service) recordAnswer(ctx context.Context, tx document.Tx, a *authorization, browser *auth.Browser, yes bool) error {
	act := auth.Activity{
		Operation: "Consent", Client: a.client.id, User: browser.Caller.User,
		Subject: a.client.name + " was let in: " + strings.Join(a.scopes, " "),
	}
	if !yes {
		act.Status, act.Subject = auth.Refused, a.client.name+" was not let in"
	}
	return s.c.Auth.Record(ctx, tx, act.Did(browser.Caller))
}

// recordChange keeps what was done to a client or to the settings: which fields,
// and none of their values. Registration has an entry of its own.
func (s *Service) recordChange(ctx context.Context, ev *document.Event) error {
	if ctx.Value(registeringKey{}) != nil {
		return nil
	}
	dt := ev.Doc.Type
	act := auth.Activity{Operation: dt.Name, User: ev.Caller.User, Subject: dt.Name}
	if dt.Name == clientName {
		act.Client = ev.Doc.Name()
		act.Subject += " " + ev.Doc.Text("app_name")
	}
	switch {
	case ev.Name == document.AfterDelete:
		act.Subject += " was deleted"
	case ev.Before == nil:
		act.Subject += " was made"
	default:
		act.Subject += " was changed: " + strings.Join(changedFields(ev), ", ")
	}
	return s.c.Auth.Record(ctx, ev.Tx, act.Did(ev.Caller))
}

// changedFields names the fields whose values are others than before.
func changedFields(ev *document.Event) []string {
	var names []string
	for _, f := range ev.Doc.Type.Fields {
		rows := func() bool {
			return slices.EqualFunc(ev.Before.Rows(f.Name), ev.Doc.Rows(f.Name), func(a, b *doctype.Document) bool { return a.Text("role") == b.Text("role") })
		}
		if !f.Standard && (fmt.Sprint(ev.Before.Get(f.Name)) != fmt.Sprint(ev.Doc.Get(f.Name)) || !rows()) {
			names = append(names, f.Name)
		}
	}
	return names
}
