// Package documenttest keeps documents in a fresh SQLite database, for tests of
// what is done with them below HTTP.
package documenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/store"
)

// Site is documents, the built-in DocTypes among them, and the clock of a site.
type Site struct {
	Store     document.Store
	Documents *document.Service
	Now       time.Time // what the clock shows; each look at it takes a microsecond
	Log       bytes.Buffer

	t          testing.TB
	protection map[string]access.Protection
}

// New makes a site with DocTypes whose definitions are given as JSON. Its Service
// is made of c, in which the store, the catalog, the clock and the log are filled in.
func New(t testing.TB, c document.ServiceConfig, definitions ...string) *Site {
	t.Helper()
	s := &Site{t: t, protection: c.Protection, Now: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)}
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Store = db
	c.Logger = slog.New(slog.NewTextHandler(&s.Log, nil))
	schema, err := doctypes.Install(t.Context(), db, s.clock, c.Logger)
	if err != nil {
		t.Fatal(err)
	}
	c.Store, c.Catalog, c.Now = db, doctype.NewCatalog(schema), s.clock
	s.Documents = document.NewService(c)
	s.roles(definitions)
	for _, text := range definitions {
		s.Insert("DocType", text)
	}
	return s
}

// roles makes those that definitions name and a site does not have by itself.
func (s *Site) roles(definitions []string) {
	s.t.Helper()
	made := map[any]bool{identity.All: true, identity.Guest: true, identity.SystemManager: true, identity.Administrator: true, identity.DeskUser: true}
	for _, text := range definitions {
		rules, _ := Values(s.t, text)["permissions"].([]any)
		for _, rule := range rules {
			if role := rule.(map[string]any)["role"]; !made[role] {
				made[role] = true
				s.Insert("Role", fmt.Sprintf(`{"role_name": %q}`, role))
			}
		}
	}
}

func (s *Site) clock() time.Time {
	s.Now = s.Now.Add(time.Microsecond)
	return s.Now
}

// Do runs fn as a caller, in a transaction that is kept when fn returns nil.
func (s *Site) Do(caller *identity.Caller, fn func(document.Acting) error) error {
	return s.Store.Write(s.t.Context(), document.OwnTx, func(tx document.Tx) error {
		return fn(s.Documents.As(caller, tx))
	})
}

// Insert makes a document of a JSON object, past all rights, and returns its name.
func (s *Site) Insert(typeName, values string) (name string) {
	s.t.Helper()
	err := s.Do(identity.Root(), func(docs document.Acting) error {
		doc, err := docs.Insert(s.t.Context(), typeName, Values(s.t, values))
		if err == nil {
			name = doc.Name()
		}
		return err
	})
	if err != nil {
		s.t.Fatalf("insert %s %s: %v", typeName, values, err)
	}
	return name
}

// Owned makes a document that somebody owns, past all rights.
func (s *Site) Owned(owner, typeName, values string) {
	s.t.Helper()
	elevated := &identity.Caller{User: owner, Elevated: true}
	err := s.Do(elevated, func(docs document.Acting) error {
		_, err := docs.Insert(s.t.Context(), typeName, Values(s.t, values))
		return err
	})
	if err != nil {
		s.t.Fatalf("insert %s %s: %v", typeName, values, err)
	}
}

// Ask runs fn with the rights of a caller, as what is committed is seen.
func (s *Site) Ask(caller *identity.Caller, fn func(*access.Rights, document.Tx) error) error {
	return s.Store.Read(s.t.Context(), func(tx document.Tx) error {
		return fn(&access.Rights{Caller: caller, Schema: s.Documents.Schema(), Now: s.Now, Tx: tx, Protection: s.protection}, tx)
	})
}

// List is the rows of a list, as JSON; args are a JSON object as clients send it.
func (s *Site) List(caller *identity.Caller, typeName, args string) (rows string, err error) {
	q, err := Query(s.t, args)
	if err != nil {
		return "", err
	}
	err = s.Store.Read(s.t.Context(), func(tx document.Tx) error {
		text, err := s.Documents.As(caller, tx).AppendList(s.t.Context(), nil, typeName, q)
		rows = string(text)
		return err
	})
	return rows, err
}

// Query reads the arguments of a list from a JSON object.
func Query(t testing.TB, args string) (*query.Query, error) {
	t.Helper()
	all := Values(t, args)
	return query.Parse(func(name string) any { return all[name] })
}

// Values reads a JSON object as a request's body is read.
func Values(t testing.TB, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return values
}

// User is a caller with roles, and those that everybody has.
func User(name string, roles ...string) *identity.Caller {
	return &identity.Caller{User: name, FullName: name, Email: name, Roles: append(roles, identity.All, identity.Guest)}
}

// Definition is the JSON of a DocType whose documents are made with their names,
// unless more says otherwise, with fields and rules, each of which is JSON
// without its braces.
func Definition(name, more string, fields, rules []string) string {
	in := func(all []string) string {
		if len(all) == 0 {
			return "[]"
		}
		return "[{" + strings.Join(all, "}, {") + "}]"
	}
	if more != "" {
		more = ", " + more
	}
	if !strings.Contains(more, `"istable"`) && !strings.Contains(more, `"autoname"`) {
		more += `, "autoname": "Prompt"`
	}
	return fmt.Sprintf(`{"name": %q, "module": "Custom", "custom": 1%s, "fields": %s, "permissions": %s}`, name, more, in(fields), in(rules))
}
