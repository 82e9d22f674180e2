package auth_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/site"
)

// fakeStore keeps users and roles in maps and counts what it is asked. What it
// does not implement panics.
type fakeStore struct {
	document.Store
	t testing.TB

	mu    sync.Mutex
	docs  map[string]map[string]*doctype.Document
	epoch int64
	err   error // what every read fails with
	asked struct{ versions, reads int }
}

func (s *fakeStore) Versions(context.Context) (document.Versions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked.versions++
	return document.Versions{Epoch: s.epoch}, s.err
}

func (s *fakeStore) Read(_ context.Context, fn func(document.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked.reads++
	if s.err != nil {
		return s.err
	}
	return fn(&fakeTx{store: s})
}

func (s *fakeStore) View(ctx context.Context, _ *document.ViewHistory, fn func(document.Tx) error) error {
	return s.Read(ctx, fn)
}

func (s *fakeStore) Write(_ context.Context, _ document.Mode, fn func(document.Tx) error) error {
	s.mu.Lock()
	tx := &fakeTx{store: s}
	err := fn(tx)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, then := range tx.after {
		then()
	}
	return nil
}

func (s *fakeStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *fakeStore) counts() (versions, reads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.versions, s.asked.reads
}

type fakeTx struct {
	document.Tx
	store *fakeStore
	after []func()
}

func (tx *fakeTx) Get(_ context.Context, _ *doctype.Schema, dt *doctype.DocType, name string, _ bool) (*doctype.Document, error) {
	if doc := tx.store.docs[dt.Name][name]; doc != nil {
		return doc.Clone(), nil
	}
	return nil, fault.Missing("%s %s not found", dt.Name, name)
}

func (tx *fakeTx) Rows(_ context.Context, sel *doctype.Select, fn func([]any) error) error {
	where := sel.Where.(doctype.Compare)
	for _, doc := range tx.store.docs[sel.DocType.Name] {
		value := doc.Get(where.Field.Name)
		matches := where.Op == query.Eq && value == where.Value
		if where.Op == query.In {
			for _, v := range where.Value.([]any) {
				matches = matches || v == value
			}
		}
		if !matches {
			continue
		}
		row := make([]any, len(sel.Columns))
		for i, c := range sel.Columns {
			row[i] = doc.Get(c.Field.Name)
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

func (tx *fakeTx) Update(_ context.Context, _ *doctype.Schema, doc *doctype.Document, columns, _ []*doctype.Field, _ string, _ ...document.Need) (bool, error) {
	stored := tx.store.docs[doc.Type.Name][doc.Name()]
	if stored == nil {
		return false, nil
	}
	for _, f := range columns {
		stored.Put(f.Name, doc.Get(f.Name))
	}
	return true, nil
}

func (tx *fakeTx) Delete(_ context.Context, _ *doctype.Schema, dt *doctype.DocType, name string) (bool, error) {
	_, there := tx.store.docs[dt.Name][name]
	delete(tx.store.docs[dt.Name], name)
	return there, nil
}

func (tx *fakeTx) BumpEpoch(context.Context) error { tx.store.epoch++; return nil }
func (tx *fakeTx) AfterCommit(fn func())           { tx.after = append(tx.after, fn) }

var secret = site.NewSecret([32]byte{7})

// fixture is a site with users, a service and a clock that moves when told.
type fixture struct {
	*auth.Service
	store  *fakeStore
	schema *doctype.Schema

	mu  sync.Mutex
	now time.Time
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

func declared(name, typ string, s doctype.ValueKind) *doctype.Field {
	return &doctype.Field{Name: name, Type: typ, Kind: s, Column: name}
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	hasRole := doctype.NewDocType(doctype.DocType{Name: "Has Role", Child: true},
		[]*doctype.Field{declared("role", "Link", doctype.Text)})
	role := doctype.NewDocType(doctype.DocType{Name: "Role"}, []*doctype.Field{
		declared("disabled", "Check", doctype.Check), declared("desk_access", "Check", doctype.Check), declared("two_factor_auth", "Check", doctype.Check)})
	user := doctype.NewDocType(doctype.DocType{Name: "User"}, []*doctype.Field{
		declared("email", "Data", doctype.Text), declared("full_name", "Data", doctype.Text),
		declared("enabled", "Check", doctype.Check), declared("user_type", "Link", doctype.Text),
		declared("api_key", "Data", doctype.Text), declared("api_secret", "Password", doctype.Text),
		declared("roles", "Table", doctype.Rows)})
	session := doctype.NewDocType(doctype.DocType{Name: "Session"}, []*doctype.Field{
		declared("user", "Data", doctype.Text), declared("last_used", "Int", doctype.Int),
		declared("expires", "Int", doctype.Int), declared("csrf_issued", "Check", doctype.Check), declared("amr", "Data", doctype.Text), declared("second_factor", "Check", doctype.Check)})
	f := &fixture{
		store:  &fakeStore{t: t, docs: map[string]map[string]*doctype.Document{"User": {}, "Role": {}, "Session": {}}},
		schema: doctype.NewSchema(1, []*doctype.DocType{hasRole, role, user, session}),
		now:    time.Unix(1_800_000_000, 0),
	}
	f.Service = f.another()
	f.put("Role", "Editor", map[string]any{"desk_access": int64(1)})
	f.put("Role", "Reader", nil)
	f.put("Role", "Retired", map[string]any{"disabled": int64(1), "desk_access": int64(1)})
	f.addUser(identity.Administrator, 1)
	f.addUser("jane@example.com", 1, "Editor", "Retired", identity.Administrator)
	f.addUser("rob@example.com", 1, "Reader")
	f.addUser("gone@example.com", 0, "Reader")
	return f
}

// another is the authentication of another process on the same database.
func (f *fixture) another() *auth.Service {
	return auth.New(auth.Config{
		Store: f.store, Catalog: doctype.NewCatalog(f.schema), Secret: secret,
		Now: f.clock, Clock: f.clock,
	})
}

func (f *fixture) put(typeName, name string, values map[string]any) *doctype.Document {
	doc := doctype.NewDocument(f.schema.DocType(typeName))
	doc.Put("name", name)
	for key, value := range values {
		doc.Put(key, value)
	}
	f.store.docs[typeName][name] = doc
	return doc
}

func (f *fixture) addUser(name string, enabled int64, roles ...string) {
	doc := f.put("User", name, map[string]any{"email": name, "full_name": "Full " + name, "enabled": enabled})
	var rows []*doctype.Document
	for _, r := range roles {
		row := doctype.NewDocument(f.schema.DocType("Has Role"))
		row.Put("role", r)
		rows = append(rows, row)
	}
	doc.PutRows("roles", rows)
}

// keys generates keys as the platform itself.
func (f *fixture) keys(t testing.TB, user string) auth.Keys {
	t.Helper()
	var keys auth.Keys
	err := f.store.Write(t.Context(), document.GroupedTx, func(tx document.Tx) (err error) {
		keys, err = f.GenerateKeys(t.Context(), tx, identity.Root(), user)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
