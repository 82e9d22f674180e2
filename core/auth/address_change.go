package auth

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// addressChangeLife is how long another address waits until both have agreed.
const addressChangeLife = 24 * time.Hour

// addressActivity is the operation under which the Activity Log has what happens to
// addresses.
const addressActivity = "Address"

// addressChangeTable is the changes of addresses that wait, one a user: a row's name is a
// keyed hash of the user's. Of the keys it has keyed hashes. It is no DocType of the schema.
func addressChangeTable() *doctype.DocType {
	return private("Address Change", "armature_address_change", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "was", Type: "Data"},
		{Name: "email", Type: "Data"},
		{Name: "old_key", Type: "Data", Indexed: 1},
		{Name: "new_key", Type: "Data", Indexed: 1},
		{Name: "old_agrees", Type: "Check"},
		{Name: "new_agrees", Type: "Check"},
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
	})
}

// AddressChange is another address for a user that is asked for. Each key goes to its
// address and nowhere else.
type AddressChange struct {
	User, FullName string
	Was, Email     string
	OldKey, NewKey string
	Taken          bool // somebody else has the new address, and there is no NewKey
	Lives          time.Duration
}

// AskAddress counts the wish of whoever is logged in for another address, and refuses those
// that are too many (TooManyRequests). It does the same whether somebody has that address or
// not: that is looked up by StartAddress, after the answer. email is the address as it
// would be kept. Errors: Permission (FreshLoginRequired); Validation for what is no address,
// for the own one, and for users whose address nobody proves.
func (s *Service) AskAddress(ctx context.Context, b *Browser, typed string, from Remote) (email string, err error) {
	if err := s.writable(); err != nil {
		return "", err
	}
	if err := s.fresh(b); err != nil {
		return "", err
	}
	user := b.Caller.User
	if builtin(user) {
		return "", fault.Invalid("", "The address of %s is set with the method framework.user.set_address", user)
	}
	if email, err = newAddress(typed); err != nil {
		return "", err
	}
	if email == b.Caller.Email {
		return "", fault.Invalid("", "That is your address already")
	}
	most := s.number(resetLimitSetting, defaultResetLimit)
	name := func(of, what string) string { return hex.EncodeToString(s.secret.MAC("another address "+of, what)) }
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		if err := s.wish(ctx, tx, name("user", user), most); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, name("address", email), most); err != nil {
			return err
		}
		if err := s.wish(ctx, tx, name("network", network(from.Address)), most*addressFactor); err != nil {
			return err
		}
		return s.resets.wishes.sweep(ctx, tx)
	})
	if err != nil {
		return "", failed(err)
	}
	return email, nil
}

// newAddress is an address as a user may have it.
func newAddress(typed string) (string, error) {
	email, err := cleanEmail(strings.TrimSpace(typed))
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(email, pluginDomain) || len(email) > maxData {
		return "", fault.Invalid("InvalidEmailAddressError", "%s is no address", email)
	}
	return email, nil
}

// StartAddress makes the keys by which both addresses agree, in place of those that a user
// has waiting. Nobody else is told whether somebody has the new address: the letters to the old one are
// the same. nil: the user is no more, or may not log in. Errors: those of the database.
func (s *Service) StartAddress(ctx context.Context, user, email string, from Remote) (*AddressChange, error) {
	change := &AddressChange{User: user, Email: email, OldKey: random(resetBytes), NewKey: random(resetBytes), Lives: addressChangeLife}
	missing := false
	err := s.writeAgain(ctx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, true)
		if missing = fault.KindOf(err) == fault.NotFound; missing {
			return nil
		}
		if err != nil {
			return err
		}
		if missing = !doc.Bool("enabled") || !logsIn(doc) || builtin(user); missing {
			return nil
		}
		change.FullName, change.Was = doc.Text("full_name"), doc.Text("email")
		if change.Taken, err = s.taken(ctx, tx, email, user); err != nil {
			return err
		}
		if err := s.endAddressChange(ctx, tx, user); err != nil {
			return err
		}
		if err := s.sweepAddressChanges(ctx, tx); err != nil {
			return err
		}
		err = s.insert(ctx, tx, s.addresses, s.hashAddressChange(user), user, map[string]any{
			"user": user, "was": change.Was, "email": email, "old_agrees": int64(0), "new_agrees": int64(0),
			"old_key": s.hashAddressKey(change.OldKey), "new_key": s.hashAddressKey(change.NewKey), "expires": s.now().Add(change.Lives).Unix(),
		})
		if err != nil {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: addressActivity, User: user, From: from, Subject: "Address: " + user + " has asked for " + email})
	})
	if err != nil || missing {
		return nil, err
	}
	if change.Taken {
		change.NewKey = ""
	}
	return change, nil
}

// taken reports whether an address belongs to somebody else than a user, as their name or as
// their address. What users are called stays theirs after another address: by it documents,
// sessions and grants know them.
func (s *Service) taken(ctx context.Context, tx document.Tx, email, except string) (found bool, err error) {
	dt, err := s.docType("User")
	if err != nil {
		return false, err
	}
	sel := &doctype.Select{
		DocType: dt, Columns: columns(dt, "name"), Length: 5,
		Where: doctype.AnyOf{equals(dt, "name", email), equals(dt, "email", email)},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		name, _ := v[0].(string)
		found = found || name != except && !builtin(name)
		return nil
	})
	return found, err
}

func (s *Service) hashAddressChange(user string) string {
	return hex.EncodeToString(s.secret.MAC("another address of", user))
}

// hashAddressKey is what is kept of a key, which is 32 random bytes: one round is enough.
func (s *Service) hashAddressKey(key string) string {
	return hex.EncodeToString(s.secret.MAC("another address", key))
}

// PendingAddress is another address that waits for both to agree.
type PendingAddress struct {
	User, Was, Email string
	Old              bool // the key asked with went to the old address
	OldAgrees        bool
	NewAgrees        bool
}

// WaitingAddress is the other address that a user waits for; nil: none.
func (s *Service) WaitingAddress(ctx context.Context, user string) (found *PendingAddress, err error) {
	err = s.store.Read(ctx, func(tx document.Tx) error {
		row, err := tx.Get(ctx, s.catalog.Schema(), s.addresses, s.hashAddressChange(user), false)
		found = nil
		if fault.KindOf(err) == fault.NotFound || err == nil && row.Int("expires") <= s.now().Unix() {
			return nil
		}
		if err == nil {
			found = pendingOf(row)
		}
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return found, nil
}

func pendingOf(row *doctype.Document) *PendingAddress {
	return &PendingAddress{User: row.Text("user"), Was: row.Text("was"), Email: row.Text("email"), OldAgrees: row.Bool("old_agrees"), NewAgrees: row.Bool("new_agrees")}
}

// CancelAddress gives up the other address of whoever is logged in.
func (s *Service) CancelAddress(ctx context.Context, b *Browser, from Remote) error {
	err := s.writeAgain(ctx, func(tx document.Tx) error {
		gone, err := tx.Delete(ctx, s.catalog.Schema(), s.addresses, s.hashAddressChange(b.Caller.User))
		if err != nil || !gone {
			return err
		}
		return s.Record(ctx, tx, Activity{Operation: addressActivity, User: b.Caller.User, From: from, Subject: "Address: " + b.Caller.User + " keeps the address after all"})
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

func goneAddress() error {
	return fault.New(fault.Gone, "", "The link has been used before, was withdrawn, or is too old")
}

// CheckAddress returns what the key of a letter agrees to; Gone when it is unknown, refused,
// too old or done, which are not told apart. It agrees to nothing.
func (s *Service) CheckAddress(ctx context.Context, key string) (found *PendingAddress, err error) {
	err = s.store.Read(ctx, func(tx document.Tx) error {
		row, err := s.addressRow(ctx, tx, key)
		if err == nil {
			found = s.pendingBy(row, key)
		}
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return found, nil
}

func (s *Service) pendingBy(row *doctype.Document, key string) *PendingAddress {
	p := pendingOf(row)
	p.Old = equal(row.Text("old_key"), s.hashAddressKey(key))
	return p
}

// addressRow is the row of a key that is still good.
func (s *Service) addressRow(ctx context.Context, tx document.Tx, key string) (*doctype.Document, error) {
	if len(key) != 2*resetBytes {
		return nil, goneAddress()
	}
	dt, hash, name := s.addresses, s.hashAddressKey(key), ""
	sel := &doctype.Select{DocType: dt, Columns: columns(dt, "name"), Where: doctype.AnyOf{equals(dt, "old_key", hash), equals(dt, "new_key", hash)}, Length: 1}
	if err := tx.Rows(ctx, sel, func(v []any) error { name, _ = v[0].(string); return nil }); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, goneAddress()
	}
	row, err := tx.Get(ctx, s.catalog.Schema(), dt, name, false)
	if fault.KindOf(err) == fault.NotFound || err == nil && row.Int("expires") <= s.now().Unix() {
		return nil, goneAddress()
	}
	return row, err
}

// AnswerAddress agrees to another address by the key of a letter, or refuses it. The second to agree
// makes the change: the address is verified by that, keys and codes that letters took to the old one end, and the user is
// called as before, so that sessions, keys, passkeys, accounts and documents stay theirs.
// done is whether the user has the address now. Errors: Gone (see CheckAddress), also where
// somebody else has the address meanwhile, the user is disabled, or has got another one.
func (s *Service) AnswerAddress(ctx context.Context, key string, agree bool, from Remote) (done bool, err error) {
	if err := s.writable(); err != nil {
		return false, err
	}
	err = s.writeAgain(ctx, func(tx document.Tx) error {
		done = false
		row, err := s.addressRow(ctx, tx, key)
		if err != nil {
			return err
		}
		// The user first, as everybody does who locks both.
		user, err := s.read(ctx, tx, row.Text("user"), true)
		if fault.KindOf(err) == fault.NotFound {
			return goneAddress()
		}
		if err != nil {
			return err
		}
		if row, err = tx.Get(ctx, s.catalog.Schema(), s.addresses, row.Name(), true); fault.KindOf(err) == fault.NotFound {
			return goneAddress()
		}
		if err != nil {
			return err
		}
		hash := s.hashAddressKey(key)
		if h := row.Text("old_key"); !equal(h, hash) && !equal(row.Text("new_key"), hash) {
			return goneAddress() // another one was asked for meanwhile
		}
		p := s.pendingBy(row, key)
		if !agree {
			return s.refuseAddress(ctx, tx, p, from)
		}
		if !user.Bool("enabled") || !logsIn(user) || user.Text("email") != p.Was {
			return goneAddress()
		}
		which := "new_agrees"
		if p.Old {
			which, p.OldAgrees = "old_agrees", true
		} else {
			p.NewAgrees = true
		}
		if _, err := tx.UpdateIf(ctx, s.addresses, row.Name(), map[string]any{}, map[string]any{which: int64(1)}); err != nil {
			return err
		}
		if done = p.OldAgrees && p.NewAgrees; !done {
			return nil
		}
		self := &identity.Caller{User: user.Name()}
		return s.putAddress(ctx, tx, self, user, p.Email, true, from)
	})
	if err != nil {
		return false, failed(err)
	}
	return done, nil
}

func (s *Service) refuseAddress(ctx context.Context, tx document.Tx, p *PendingAddress, from Remote) error {
	if err := s.endAddressChange(ctx, tx, p.User); err != nil {
		return err
	}
	whose := "the new one"
	if p.Old {
		whose = "the old one"
	}
	return s.Record(ctx, tx, Activity{Operation: addressActivity, Status: Refused, User: p.User, By: identity.Guest, From: from,
		Subject: "Address: " + p.Email + " for " + p.User + " was refused by a letter to " + whose})
}

// putAddress gives a user, whose document the transaction has locked, another address.
func (s *Service) putAddress(ctx context.Context, tx document.Tx, by *identity.Caller, user *doctype.Document, email string, verified bool, from Remote) error {
	taken, err := s.taken(ctx, tx, email, user.Name())
	if err != nil {
		return err
	}
	if taken {
		if by.User == user.Name() {
			return goneAddress()
		}
		return fault.New(fault.Conflict, "DuplicateEntryError", "Somebody else has the address %s", email)
	}
	was := user.Text("email")
	user.Put("email", email)
	fields := []string{"email"}
	if user.Type.Field("email_verified") != nil {
		user.Put("email_verified", check(verified))
		fields = append(fields, "email_verified")
	}
	if err := s.save(ctx, tx, by, user, fields...); err != nil {
		return err
	}
	if err := s.endResets(ctx, tx, user.Name()); err != nil {
		return err
	}
	act := Activity{Operation: addressActivity, User: user.Name(), From: from, Subject: "Address: " + user.Name() + " has " + email + " in place of " + was}
	return s.Record(ctx, tx, act.Did(by))
}

// SetAddress gives a user another address, which is not verified, where the old one cannot
// be reached any more: for System Managers; that of the Administrator is set by the
// Administrator alone. Errors: Permission; Missing; Validation for what is no address;
// Conflict (DuplicateEntryError) for somebody else's.
func (s *Service) SetAddress(ctx context.Context, tx document.Tx, caller *identity.Caller, user, typed string) error {
	if err := s.writable(); err != nil {
		return err
	}
	if !caller.HasRole(identity.SystemManager) {
		return fault.Denied("Only a System Manager may set the address of a user")
	}
	if user == identity.Administrator && caller.User != identity.Administrator {
		return fault.Denied("Only the Administrator may set the address of the Administrator")
	}
	email, err := newAddress(typed)
	if err != nil {
		return err
	}
	doc, err := s.read(ctx, tx, user, true)
	if err != nil {
		return err
	}
	if isPlugin(doc) {
		return noLogin(doc)
	}
	if doc.Text("email") == email {
		return nil
	}
	taken, err := s.taken(ctx, tx, email, user)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "DuplicateEntryError", "Somebody else has the address %s", email)
	}
	return s.putAddress(ctx, tx, caller, doc, email, false, Remote{})
}

// endAddressChange makes the keys worthless by which a user would get another address.
func (s *Service) endAddressChange(ctx context.Context, tx document.Tx, user string) error {
	_, err := tx.Delete(ctx, s.catalog.Schema(), s.addresses, s.hashAddressChange(user))
	return err
}

// sweepAddressChanges clears away what is too old.
func (s *Service) sweepAddressChanges(ctx context.Context, tx document.Tx) error {
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: s.addresses,
		Columns: columns(s.addresses, "name"),
		Where:   doctype.Compare{Operand: doctype.Operand{Field: s.addresses.Field("expires")}, Op: query.Lt, Value: s.now().Unix()},
		Length:  maxSwept,
	})
}
