package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/scope"
)

const (
	// markOfNamed begins the keys that a user has beside the one of the user's document,
	// which is hexadecimal: by it a request looks in one place alone.
	markOfNamed = "k"
	// maxKeys is how many of them a user has at most.
	maxKeys = 50
	// maxKeyScopes and maxKeyScope bound what a key is narrowed to.
	maxKeyScopes = 100
	maxKeyScope  = 280
	// maxKeyDays is the longest that a key with an end lives.
	maxKeyDays = 3650
	// keyKept is for how long a key is shown that is past its end, so that its user
	// sees why a program has stopped.
	keyKept = 30 * 24 * time.Hour
)

// keyTable is the keys of users, several of each. Of a secret the table keeps a keyed
// hash; it is no DocType of the schema.
func keyTable() *doctype.DocType {
	return private("API Key", "armature_api_key", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "title", Type: "Data"},
		{Name: "hash", Type: "Data"},
		{Name: "whole", Type: "Check"}, // it may what its user may; else only what scopes say
		{Name: "scopes", Type: "Long Text"},
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds; 0: never
		{Name: "used", Type: "Int"},                // seconds, to five minutes; 0: never
	})
}

// NewKey is a key as it is asked for.
type NewKey struct {
	Title  string   // by which its user knows it
	Scopes []string // what it may, as an access token's scopes say it; none: all that its user may
	Days   int      // until it ends; 0: it does not
}

// NamedKey is a key as its user sees it. The key that stands in the user's document is
// one of them, with Single set.
type NamedKey struct {
	Key     string
	Title   string
	Scopes  []string // none: it may what its user may
	Added   string   // YYYY-MM-DD HH:MM:SS.ffffff in the site's zone; empty: not known
	Expires int64    // seconds since 1970; 0: never
	Expired bool
	Used    int64 // seconds since 1970, to five minutes; 0: never, or not known
	Single  bool
}

// checkKey refuses a key that nobody can mean, and cleans its title.
func checkKey(n NewKey) (NewKey, error) {
	n.Title = cut(strings.TrimSpace(oneLine(n.Title)), 60)
	if n.Title == "" {
		return n, fault.Invalid("", "A key needs a name, by which you know it again")
	}
	if n.Days < 0 || n.Days > maxKeyDays {
		return n, fault.Invalid("", "A key lives from 1 to %d days, or with 0 until it is ended", maxKeyDays)
	}
	if len(n.Scopes) > maxKeyScopes {
		return n, fault.Invalid("", "A key has at most %d scopes", maxKeyScopes)
	}
	var scopes []string
	for _, text := range n.Scopes {
		if err := checkKeyScope(text); err != nil {
			return n, err
		}
		if !slices.Contains(scopes, text) {
			scopes = append(scopes, text)
		}
	}
	n.Scopes = scopes
	return n, nil
}

// checkKeyScope refuses a scope that would allow a key nothing: a word of plugins, of ID
// tokens or one that is misspelt. Whether there is such a DocType or method is not asked:
// a plugin may bring it later.
func checkKeyScope(text string) error {
	if len(text) > maxKeyScope || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fault.Invalid("", "A scope has at most %d characters and no spaces: write %%20 for one in the name of a DocType", maxKeyScope)
	}
	s, err := scope.Parse(text)
	if err != nil {
		return fault.Invalid("", "%q is no scope: %s", text, err)
	}
	switch s.Kind {
	case scope.All, scope.Resource, scope.Method:
		return nil
	}
	return fault.Invalid("", "%q is no scope of a key: those are resource:<DocType>:<read, write, create, update, delete or submit>, method:<path> and all", text)
}

// putKey gives a user, whose document is locked, one more key.
func (s *Service) putKey(ctx context.Context, tx document.Tx, by *identity.Caller, user *doctype.Document, n NewKey, from Remote) (Keys, error) {
	if isPlugin(user) {
		return Keys{}, noLogin(user)
	}
	names, err := s.namesOf(ctx, tx, s.keys, user.Name())
	if err != nil {
		return Keys{}, err
	}
	if len(names) >= maxKeys {
		return Keys{}, fault.Invalid("", "%s has %d keys, and more are not kept: end one first", user.Name(), maxKeys)
	}
	keys := Keys{Key: markOfNamed + random(keyBytes), Secret: random(secretBytes)}
	now, expires := s.now(), int64(0)
	if n.Days > 0 {
		expires = now.AddDate(0, 0, n.Days).Unix()
	}
	err = s.insert(ctx, tx, s.keys, keys.Key, by.User, map[string]any{
		"user": user.Name(), "title": n.Title, "hash": s.hashSecret(keys.Key, keys.Secret),
		"whole": check(len(n.Scopes) == 0), "scopes": strings.Join(n.Scopes, " "), "expires": expires, "used": int64(0),
	})
	if err != nil {
		return Keys{}, err
	}
	may := "all that its user may"
	if len(n.Scopes) > 0 {
		may = strings.Join(n.Scopes, " ")
	}
	act := Activity{Operation: keyActivity, User: user.Name(), From: from, Subject: "Keys: " + user.Name() + " has the new key " + n.Title + ", for " + may}
	return keys, s.Record(ctx, tx, act.Did(by))
}

// keyActivity is the operation under which the Activity Log has what happens to keys.
const keyActivity = "Keys"

// namedKey is a row of the table.
type namedKey struct {
	NamedKey
	user, hash string
	whole      bool
}

func (s *Service) keyRows(ctx context.Context, tx document.Tx, where doctype.Where) (rows []namedKey, err error) {
	dt := s.keys
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name", "user", "title", "hash", "whole", "scopes", "expires", "used", "creation"),
		Where:   where,
		Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}}, {Operand: doctype.Operand{Field: dt.Field("name")}}},
		Length:  maxKeys,
	}
	now := s.now().Unix()
	err = tx.Rows(ctx, sel, func(v []any) error {
		text := func(i int) string { t, _ := v[i].(string); return t }
		k := namedKey{NamedKey: NamedKey{Key: text(0), Title: text(2), Scopes: strings.Fields(text(5)), Added: text(8)}, user: text(1), hash: text(3), whole: v[4] == int64(1)}
		k.Expires, _ = v[6].(int64)
		k.Used, _ = v[7].(int64)
		k.Expired = k.Expires > 0 && now >= k.Expires
		rows = append(rows, k)
		return nil
	})
	return rows, err
}

// lookUpNamed is lookUp for a key that stands in the table.
func (s *Service) lookUpNamed(ctx context.Context, key, hash string) (*keyEntry, error) {
	e := &keyEntry{hash: hash}
	err := s.store.Read(ctx, func(tx document.Tx) error {
		rows, err := s.keyRows(ctx, tx, equals(s.keys, "name", key))
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return wrong("unknown key")
		}
		k := rows[0]
		if !equal(k.Key, key) || !equal(k.hash, hash) {
			return wrong("wrong secret")
		}
		user, err := s.userNamed(ctx, tx, k.user)
		if err != nil {
			return err
		}
		caller, err := s.callerOf(ctx, tx, user)
		if err != nil {
			return err
		}
		caller.Key = key
		if !k.whole {
			caller.Scopes = []*scope.Set{scope.Token(k.Scopes...)}
		}
		e.caller, e.expires = caller, k.Expires
		e.used.Store(k.Used)
		return nil
	})
	return e, err
}

// userNamed reads the user of a credential.
func (s *Service) userNamed(ctx context.Context, tx document.Tx, user string) (*doctype.Document, error) {
	dt, err := s.docType("User")
	if err != nil {
		return nil, err
	}
	doc, err := tx.Get(ctx, s.catalog.Schema(), dt, user, false)
	if fault.KindOf(err) == fault.NotFound {
		return nil, wrong("no such user")
	}
	return doc, err
}

// useKey refuses a key that is past its end and notes the use of one that is not, now
// and then: of many requests at once one does it, and a database that cannot be written
// to fails nobody's request.
func (s *Service) useKey(ctx context.Context, key string, e *keyEntry) error {
	if e.caller.Key == "" {
		return nil // the single one: nothing is noted of it
	}
	now := s.now().Unix()
	if e.expires > 0 && now >= e.expires {
		return wrong("a key past its end")
	}
	last := e.used.Load()
	if now-last < int64(touchEvery/time.Second) || !e.used.CompareAndSwap(last, now) {
		return nil
	}
	_ = s.store.Write(ctx, document.OneWrite, func(tx document.Tx) error {
		_, err := tx.UpdateIf(ctx, s.keys, key, map[string]any{"user": e.caller.User}, map[string]any{"used": now})
		return err
	})
	return nil
}

// sweepKeys clears away keys that ended long ago.
func (s *Service) sweepKeys(ctx context.Context, tx document.Tx) error {
	dt := s.keys
	expires := doctype.Operand{Field: dt.Field("expires")}
	return s.sweep(ctx, tx, &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "name"),
		Where: doctype.AllOf{
			doctype.Compare{Operand: expires, Op: query.Gt, Value: int64(0)},
			doctype.Compare{Operand: expires, Op: query.Lt, Value: s.now().Add(-keyKept).Unix()},
		},
		Length: maxSwept,
	})
}
