package oauth

import (
	"context"
	"fmt"
	"time"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Grant is one consent that counts: what a user has let a client do.
type Grant struct {
	ID       string
	Client   string // id
	Name     string // what the client is called on pages
	Itself   bool   // nobody of the site has checked what it says
	User     string
	Scopes   []string
	Created  string    // YYYY-MM-DD HH:MM:SS.ffffff, in the site's zone
	LastUsed time.Time // to five minutes
}

// Grants lists what the user has let in, the newest first.
func (s *Service) Grants(ctx context.Context, user string) ([]Grant, error) {
	return s.grants(ctx, "user", user)
}

// GrantsOf lists who has let a client in, the newest first.
func (s *Service) GrantsOf(ctx context.Context, client string) ([]Grant, error) {
	return s.grants(ctx, "client", client)
}

func (s *Service) grants(ctx context.Context, field, name string) ([]Grant, error) {
	found, err := s.store.Grants(ctx, field, name)
	if err != nil {
		return nil, err
	}
	all := make([]Grant, 0, len(found))
	for _, g := range found {
		grant := Grant{ID: g.ID, Client: g.Client, User: g.User, Scopes: g.Scopes, Created: g.Created, LastUsed: g.LastUsed}
		client, err := s.client(ctx, g.Client)
		if err != nil && !gone(err) {
			return nil, err
		}
		if client != nil {
			grant.Itself = client.itself
			if grant.Name, err = s.shown(ctx, client); err != nil {
				return nil, err
			}
		}
		all = append(all, grant)
	}
	return all, nil
}

// EndGrant ends a grant of the caller's own; a System Manager may end any. All its
// tokens stop at once. Errors: Missing for one that is not there or is somebody
// else's; Denied for a caller who is an application.
func (s *Service) EndGrant(ctx context.Context, caller *identity.Caller, id string) error {
	if caller.Client != "" {
		return fault.Denied("An application cannot do this")
	}
	g, err := s.store.Grant(ctx, id)
	if err != nil {
		return err
	}
	if g == nil || g.User != caller.User && !caller.HasRole(identity.SystemManager) {
		return fault.Missing("There is no such grant")
	}
	return s.store.End(ctx, id, s.ending("Grant", "", byUser, caller))
}

// EndUser ends every grant of a user, in the transaction that changes the user; it
// is auth.Config.Ended.
func (s *Service) EndUser(ctx context.Context, tx document.Tx, by *identity.Caller, user string) error {
	n, err := s.store.EndAll(ctx, tx, "user", user)
	if err != nil || n == 0 {
		return err
	}
	act := auth.Activity{Operation: "Grant", User: user, Subject: fmt.Sprintf("Access of all applications ended: %d", n)}
	return s.c.Auth.Record(ctx, tx, act.Did(by))
}

// Sweep clears away what is past use and renews signing keys; it is to be called
// once a day.
func (s *Service) Sweep(ctx context.Context) error {
	if _, err := s.store.Sweep(ctx); err != nil {
		return err
	}
	if err := s.sweepUnused(ctx); err != nil {
		return err
	}
	return s.rotateKeys(ctx)
}
