package auth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// MakeKey gives a session's user one more key. The secret is shown this once. Errors:
// Permission (FreshLoginRequired) where the login is too old or shows too little, and for
// whoever acts by a key or a token: no key makes another, which could do more or live
// longer; Validation for what is no name, scope or length of life, and for one too many;
// document.ErrReadOnlySite.
func (s *Service) MakeKey(ctx context.Context, b *Browser, n NewKey, from Remote) (keys Keys, err error) {
	if err := s.fresh(b); err != nil {
		return keys, err
	}
	if err := s.writable(); err != nil {
		return keys, err
	}
	if n, err = checkKey(n); err != nil {
		return keys, err
	}
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		user, err := s.read(ctx, tx, b.Caller.User, true)
		if err != nil {
			return err
		}
		if err := s.mayMakeKey(ctx, tx, b); err != nil {
			return err
		}
		keys, err = s.putKey(ctx, tx, b.Caller, user, n, from)
		return err
	})
	if err != nil {
		return Keys{}, failed(err)
	}
	return keys, nil
}

// mayMakeKey refuses a session that is not fresh, and one that has not itself shown the
// second factor of a user who has one: a key would be the way around it.
func (s *Service) mayMakeKey(ctx context.Context, tx document.Tx, b *Browser) error {
	has, err := s.hasFactor(ctx, tx, b.Caller.User)
	if err != nil {
		return err
	}
	return s.mayChange(b, has)
}

// MayMakeKey is why a session makes no key now; nil: it does. Errors: those of MakeKey.
func (s *Service) MayMakeKey(ctx context.Context, b *Browser) error {
	if err := s.fresh(b); err != nil {
		return err
	}
	return s.store.Read(ctx, func(tx document.Tx) error { return s.mayMakeKey(ctx, tx, b) })
}

// MakeKeyOf is MakeKey for whoever runs the site, at the command line: a program's user
// has no session. Errors: Permission for everybody else; Missing for an unknown user;
// Validation as MakeKey has it, and for the user of a plugin.
func (s *Service) MakeKeyOf(ctx context.Context, tx document.Tx, by *identity.Caller, user string, n NewKey) (Keys, error) {
	if err := runsSite(by); err != nil {
		return Keys{}, err
	}
	if err := s.writable(); err != nil {
		return Keys{}, err
	}
	n, err := checkKey(n)
	if err != nil {
		return Keys{}, err
	}
	doc, err := s.read(ctx, tx, user, true)
	if err != nil {
		return Keys{}, err
	}
	return s.putKey(ctx, tx, by, doc, n, Remote{})
}

// runsSite refuses whoever is not the platform itself, or the Administrator by more than
// a key or a token.
func runsSite(by *identity.Caller) error {
	if by.User != identity.Administrator || by.Narrowed() || by.Key != "" {
		return fault.Denied("Only who runs the site may do this to the keys of others")
	}
	return nil
}

// NamedKeys lists the keys of a session's user, the single one first and then the oldest.
// Errors: Permission for whoever has no session.
func (s *Service) NamedKeys(ctx context.Context, b *Browser) (list []NamedKey, err error) {
	if b == nil {
		return nil, keySession()
	}
	return s.listKeys(ctx, b.Caller.User)
}

func keySession() error { return fault.Denied("Keys are seen and ended by whoever is logged in") }

// KeysOf is NamedKeys for whoever runs the site. Errors: Permission; Missing.
func (s *Service) KeysOf(ctx context.Context, by *identity.Caller, user string) ([]NamedKey, error) {
	if err := runsSite(by); err != nil {
		return nil, err
	}
	return s.listKeys(ctx, user)
}

func (s *Service) listKeys(ctx context.Context, user string) (list []NamedKey, err error) {
	err = s.store.Read(ctx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, false)
		if err != nil {
			return err
		}
		rows, err := s.keyRows(ctx, tx, equals(s.keys, "user", doc.Name()))
		if err != nil {
			return err
		}
		list = []NamedKey{}
		if key := doc.Text("api_key"); key != "" {
			list = append(list, NamedKey{Key: key, Single: true})
		}
		for _, row := range rows {
			list = append(list, row.NamedKey)
		}
		return nil
	})
	if err != nil {
		return nil, failed(err)
	}
	return list, nil
}

// EndKey ends a key of a session's user: no request with it is taken, by other servers from
// half a second later on, and what it follows ends. Errors: Missing where the user has no such key; Permission for
// whoever has no session.
func (s *Service) EndKey(ctx context.Context, b *Browser, key string, from Remote) error {
	if b == nil {
		return keySession()
	}
	err := s.writeAgain(ctx, func(tx document.Tx) error { return s.endKey(ctx, tx, b.Caller, b.Caller.User, key, from) })
	if err != nil {
		return failed(err)
	}
	return nil
}

// EndKeyOf is EndKey for whoever runs the site. Errors: Permission; Missing.
func (s *Service) EndKeyOf(ctx context.Context, tx document.Tx, by *identity.Caller, user, key string) error {
	if err := runsSite(by); err != nil {
		return err
	}
	return s.endKey(ctx, tx, by, user, key, Remote{})
}

func (s *Service) endKey(ctx context.Context, tx document.Tx, by *identity.Caller, user, key string, from Remote) error {
	doc, err := s.read(ctx, tx, user, true)
	if err != nil {
		return err
	}
	title, err := s.dropKey(ctx, tx, by, doc, key)
	if err != nil {
		return err
	}
	if err := s.Changed(ctx, tx); err != nil {
		return err
	}
	act := Activity{Operation: keyActivity, User: doc.Name(), From: from, Subject: "Keys: the key " + title + " of " + doc.Name() + " has ended"}
	return s.Record(ctx, tx, act.Did(by))
}

// dropKey takes a key away and returns what it is called.
func (s *Service) dropKey(ctx context.Context, tx document.Tx, by *identity.Caller, user *doctype.Document, key string) (title string, err error) {
	if key != "" && user.Text("api_key") == key {
		user.Put("api_key", nil)
		user.Put("api_secret", nil)
		return key, s.save(ctx, tx, by, user, "api_key", "api_secret")
	}
	rows, err := s.keyRows(ctx, tx, equals(s.keys, "name", key))
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || rows[0].Key != key || rows[0].user != user.Name() {
		return "", fault.New(fault.NotFound, "", "There is no such key, or not any more")
	}
	_, err = tx.Delete(ctx, s.catalog.Schema(), s.keys, key)
	return rows[0].Title, err
}
