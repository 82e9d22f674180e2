package auth

import (
	"context"
	"fmt"

	"armature/core/document"
	"armature/core/identity"
)

// FirstPassword gives the Administrator of a new site a password, or with "" a
// random one, which it returns: no site ever has a known one. Where there is a
// password it does nothing; of two processes that open a new site at once, one
// sets it.
func (s *Service) FirstPassword(ctx context.Context, password string) (random string, err error) {
	missing, err := s.lacksPassword(ctx)
	if err != nil || !missing {
		return "", err
	}
	if password == "" {
		random = RandomPassword()
		password = random
	}
	hash, err := HashPassword(password)
	if err != nil {
		return "", fmt.Errorf("the Administrator's password: %w", err)
	}
	set := false
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		has, err := s.HasPassword(ctx, tx, identity.Administrator, true)
		if err != nil || has {
			return err
		}
		set = true
		return s.SetPassword(ctx, tx, identity.Root(), identity.Administrator, hash)
	})
	if err != nil {
		return "", fmt.Errorf("the Administrator's password: %w", err)
	}
	if !set {
		return "", nil
	}
	return random, nil
}

// lacksPassword reports whether the Administrator has no password.
func (s *Service) lacksPassword(ctx context.Context) (lacks bool, err error) {
	err = s.store.Read(ctx, func(tx document.Tx) error {
		has, err := s.HasPassword(ctx, tx, identity.Administrator, false)
		lacks = !has
		return err
	})
	return lacks, err
}
