package social

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// Tie is an account elsewhere by which a user logs in.
type Tie struct {
	ID       string // by which it is ended
	Provider string // name of the key
	Account  string // what the provider calls it; may be empty
	Added    string // YYYY-MM-DD HH:MM:SS.ffffff in the site's zone
	Used     int64  // when the user logged in by it last, in seconds; 0: not yet
}

// tieOf is the name of the row of an account. It holds who issues the account: a key that
// is pointed at another provider does not take its people for those of the one before.
func (s *Service) tieOf(k *key, who *person) string {
	return hex.EncodeToString(s.c.Secret.MAC("social login", strings.Join([]string{k.name, who.issuer, who.subject}, "\n")))
}

// Ties are the accounts of the user of a session.
func (s *Service) Ties(ctx context.Context, user string) (list []Tie, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		list, err = s.ties(ctx, tx, user)
		return err
	})
	return list, err
}

func (s *Service) ties(ctx context.Context, tx document.Tx, user string) (list []Tie, err error) {
	dt := tables().ties
	sel := &doctype.Select{
		DocType: dt, Columns: columns(dt, "name", "provider", "account", "creation", "used"), Where: equals(dt, "user", user),
		Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		var t Tie
		t.ID, _ = v[0].(string)
		t.Provider, _ = v[1].(string)
		t.Account, _ = v[2].(string)
		t.Added, _ = v[3].(string)
		t.Used, _ = v[4].(int64)
		list = append(list, t)
		return nil
	})
	return list, err
}

// tie makes an account that of the user who has begun the flow, in a session whose login
// is fresh still.
func (s *Service) tie(ctx context.Context, k *key, who *person, t *ticket, a Answer) error {
	if err := s.c.Auth.FreshBrowser(a.Browser); err != nil {
		return err
	}
	if builtin(t.User) {
		return fault.Denied("Nobody logs in as %s with an account elsewhere", t.User)
	}
	return s.write(ctx, func(tx document.Tx) error {
		user, err := s.user(ctx, tx, t.User, true)
		if err != nil {
			return err
		}
		if user == nil || !user.Bool("enabled") || auth.IsService(user) {
			return fault.Denied("Only people have accounts elsewhere")
		}
		row, err := s.row(ctx, tx, s.tieOf(k, who))
		if err != nil {
			return err
		}
		if row != nil {
			return ownTie(k, row, t.User)
		}
		return s.addTie(ctx, tx, k, who, t.User, a.From)
	})
}

// ownTie refuses an account that is another user's.
func ownTie(k *key, row *doctype.Document, user string) error {
	if row.Text("user") == user {
		return nil
	}
	return fault.Invalid("", "This account of %s is another user's here", k.name)
}

// addTie keeps an account. The transaction has locked the user.
func (s *Service) addTie(ctx context.Context, tx document.Tx, k *key, who *person, user string, from auth.Remote) error {
	err := s.insert(ctx, tx, tables().ties, s.tieOf(k, who), map[string]any{
		"user": user, "provider": k.name, "account": cut(firstOf(who.email, who.account, who.name), maxData),
	})
	if err != nil {
		return err
	}
	return s.c.Auth.Record(ctx, tx, auth.Activity{
		Operation: activity, User: user, Subject: "An account of " + k.name + " lets " + user + " in", From: from,
	})
}

// activity is the operation under which the Activity Log has what happens to ties.
const activity = "Social Login"

// Untie ends an account of a session's user, and the roles that came with it. The last way
// in stays. Errors: Permission (FreshLoginRequired); Missing; Validation.
func (s *Service) Untie(ctx context.Context, b *auth.Browser, id string, from auth.Remote) error {
	if err := s.c.Auth.FreshBrowser(b); err != nil {
		return err
	}
	name := b.Caller.User
	domain, err := s.c.Auth.PasskeyDomain(ctx)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx document.Tx) error {
		user, err := s.user(ctx, tx, name, true)
		if err != nil {
			return err
		}
		row, err := s.row(ctx, tx, id)
		if err != nil {
			return err
		}
		if user == nil || row == nil || row.Text("user") != name {
			return fault.Missing("There is no such account")
		}
		ties, err := s.ties(ctx, tx, name)
		if err != nil {
			return err
		}
		if len(ties) == 1 && user.Text("password_hash") == "" {
			other, err := s.c.Auth.HasPasskeyAlone(ctx, tx, name, domain)
			if err != nil {
				return err
			}
			if !other {
				return fault.Invalid("", "This is the only way in that you have: set a password or make a passkey first")
			}
		}
		return s.drop(ctx, tx, row, auth.Activity{Operation: activity, User: name, From: from,
			Subject: "An account of " + row.Text("provider") + " lets " + name + " in no more"})
	})
}

// HasTie reports whether an account elsewhere lets a user in, whose document is locked.
func (s *Service) HasTie(ctx context.Context, tx document.Tx, user string) (bool, error) {
	list, err := s.ties(ctx, tx, user)
	return len(list) > 0, err
}

// drop ends a tie: the roles that its claim has given go with it.
func (s *Service) drop(ctx context.Context, tx document.Tx, row *doctype.Document, act auth.Activity) error {
	if err := s.setRoles(ctx, tx, row, nil, nil); err != nil {
		return err
	}
	if _, err := tx.Delete(ctx, s.c.Catalog.Schema(), tables().ties, row.Name()); err != nil {
		return err
	}
	return s.c.Auth.Record(ctx, tx, act)
}

// row reads the row of a tie and locks it; nil: there is none.
func (s *Service) row(ctx context.Context, tx document.Tx, name string) (*doctype.Document, error) {
	doc, err := tx.Get(ctx, s.c.Catalog.Schema(), tables().ties, name, true)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return doc, err
}

// user reads a user; nil: there is none.
func (s *Service) user(ctx context.Context, tx document.Tx, name string, lock bool) (*doctype.Document, error) {
	dt, err := s.c.Catalog.Schema().Platform("User")
	if err != nil {
		return nil, err
	}
	doc, err := tx.Get(ctx, s.c.Catalog.Schema(), dt, name, lock)
	if fault.KindOf(err) == fault.NotFound || err == nil && doc.Name() != name {
		return nil, nil // a database may take "A" for "a"
	}
	return doc, err
}

// userOf reads and locks the user who has an address, or came with it and has another one
// now; nil: there is none.
func (s *Service) userOf(ctx context.Context, tx document.Tx, email string) (*doctype.Document, error) {
	user, err := s.user(ctx, tx, email, true)
	if err != nil || user != nil {
		return user, err
	}
	dt, err := s.c.Catalog.Schema().Platform("User")
	if err != nil {
		return nil, err
	}
	var names []string
	names, err = s.names(ctx, tx, dt, doctype.Compare{Operand: doctype.Operand{Field: dt.Field("email")}, Op: query.Eq, Value: email}, 5)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !builtin(name) {
			return s.user(ctx, tx, name, true)
		}
	}
	return nil, nil
}

// write is a transaction in which users change; it is tried again where two do the same at
// once.
func (s *Service) write(ctx context.Context, fn func(document.Tx) error) (err error) {
	for range 3 {
		err = s.c.Store.Write(ctx, s.c.Documents().WriteMode("User"), fn)
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return err
}

func (s *Service) insert(ctx context.Context, tx document.Tx, dt *doctype.DocType, name string, values map[string]any) error {
	doc := doctype.NewDocument(dt)
	now := doctype.FormatDatetime(s.c.Now())
	for field, value := range map[string]any{"name": name, "owner": identity.Administrator, "modified_by": identity.Administrator, "creation": now, "modified": now} {
		doc.Put(field, value)
	}
	for field, value := range values {
		doc.Put(field, value)
	}
	return tx.Insert(ctx, doc)
}

func (s *Service) names(ctx context.Context, tx document.Tx, dt *doctype.DocType, where doctype.Where, most int) (names []string, err error) {
	err = tx.Rows(ctx, &doctype.Select{
		DocType: dt, Columns: columns(dt, "name"), Where: where, Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("name")}}}, Length: most,
	}, func(v []any) error {
		name, _ := v[0].(string)
		names = append(names, name)
		return nil
	})
	return names, err
}

func equals(dt *doctype.DocType, field string, value any) doctype.Where {
	return doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: value}
}

func columns(dt *doctype.DocType, names ...string) (list []doctype.Column) {
	for _, name := range names {
		list = append(list, doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name})
	}
	return list
}

func builtin(user string) bool {
	return slices.Contains([]string{identity.Administrator, identity.Guest, ""}, user)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// cut shortens text to at most n bytes, between two letters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}
