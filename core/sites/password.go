package sites

import (
	"context"
	"fmt"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/identity"
)

// firstPassword gives the Administrator of a new site a password: no site ever
// has a known one. Of two processes that open a new site at once, one sets it.
func (t *Tenant) firstPassword(ctx context.Context) error {
	missing, err := t.needsPassword(ctx)
	if err != nil || !missing {
		return err
	}
	password := t.set.c.Password
	if password == "" {
		password = auth.RandomPassword()
	}
	hash, err := auth.HashPassword(password)
	if err != nil {
		return fmt.Errorf("the Administrator's password: %w", err)
	}
	set := false
	err = t.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		has, err := t.Auth.HasPassword(ctx, tx, identity.Administrator, true)
		if err != nil || has {
			return err
		}
		set = true
		return t.Auth.SetPassword(ctx, tx, identity.Root(), identity.Administrator, hash)
	})
	if err != nil {
		return fmt.Errorf("the Administrator's password: %w", err)
	}
	if set && t.set.c.Password == "" && t.set.c.Announce != nil {
		t.set.c.Announce(t.Site.Name, identity.Administrator, password)
	}
	return nil
}

func (t *Tenant) needsPassword(ctx context.Context) (missing bool, err error) {
	err = t.Store.Read(ctx, func(tx document.Tx) error {
		has, err := t.Auth.HasPassword(ctx, tx, identity.Administrator, false)
		missing = !has
		return err
	})
	return missing, err
}
