package file_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/account"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/file"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/route"
	"armature/core/scope"
	"armature/core/sites/sitetest"
	"armature/core/store"
)

// callers are who the test site knows, by the value of the header X-Test-User.
var callers = map[string]*identity.Caller{
	"admin": identity.Root(),
	"ann":   {User: "ann@example.com", Desk: true, Roles: []string{identity.DeskUser, identity.All, identity.Guest}},
	"bob":   {User: "bob@example.com", Desk: true, Roles: []string{identity.DeskUser, identity.All, identity.Guest}},
	"manager": {User: "manager@example.com", Desk: true,
		Roles: []string{identity.SystemManager, identity.DeskUser, identity.All, identity.Guest}},
	"narrow": {User: "ann@example.com", Desk: true, Roles: []string{identity.DeskUser, identity.All, identity.Guest},
		Scopes: []*scope.Set{scope.Token("resource:Case:write")}},
	"reader": {User: "ann@example.com", Desk: true, Roles: []string{identity.DeskUser, identity.All, identity.Guest},
		Scopes: []*scope.Set{scope.Token("resource:File:read")}},
	"web": {User: "web@example.com", Roles: []string{identity.All, identity.Guest}},
}

// testSite is a site on a real database behind the whole HTTP edge.
type testSite struct {
	t       testing.TB
	dir     string
	store   document.Store
	docs    *document.Service
	files   *file.Service
	storage *gateStorage
	url     string
	memory  *account.Account // nil: nobody keeps account

	mu       sync.Mutex
	settings map[string]string
	now      func() time.Time
	fail     func(ctx context.Context, ev *document.Event) error
}

// each runs a test on every database.
func each(t *testing.T, test func(s *testSite)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(newSite(t, "")) })
	t.Run("PostgreSQL", func(t *testing.T) { test(newSite(t, sitetest.Postgres(t))) })
}

var made atomic.Int64

func newSite(t testing.TB, database string) *testSite {
	t.Helper()
	return newSiteOn(t, database, func(dir string) file.Storage { return openDisk(t, dir) })
}

// newSiteOn makes a site whose files are kept elsewhere.
func newSiteOn(t testing.TB, database string, open func(dir string) file.Storage) *testSite {
	t.Helper()
	ctx := context.Background()
	s := &testSite{t: t, dir: t.TempDir(), settings: map[string]string{}, now: time.Now}
	if database == "" {
		database = filepath.Join(s.dir, "site.db")
	}
	schemaName := fmt.Sprintf("file_t%d_%d_%d", os.Getpid(), time.Now().UnixNano(), made.Add(1))
	db, err := store.Open(ctx, database, schemaName, store.Options{Durability: store.Crash})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.store = db
	schema, err := doctypes.Install(ctx, db, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.storage = &gateStorage{Storage: open(s.dir)}
	s.files = s.another("ONE")
	s.docs = document.NewService(document.ServiceConfig{
		Store: db, Catalog: doctype.NewCatalog(schema), Hooks: []document.Hooks{s.files.Hooks(), failing{s}}, ExtraAccess: s.files, Now: time.Now,
	})
	s.serve(t)
	s.defineCase()
	return s
}

// another is the file service of a database of that identity, on the same storage.
func (s *testSite) another(identity string) *file.Service {
	s.t.Helper()
	files, err := file.New(file.Config{
		Store: s.store, Documents: func() *document.Service { return s.docs }, Storage: s.storage, Identity: identity,
		Spool: filepath.Join(s.dir, "files", "tmp"), Setting: s.setting, Call: s.call,
		Now: func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now() },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func (s *testSite) serve(t testing.TB) {
	table, err := method.NewTable(method.Framework("test"))
	if err != nil {
		t.Fatal(err)
	}
	var routes route.Table
	if err := routes.Add(s.files.Raw()...); err != nil {
		t.Fatal(err)
	}
	if err := routes.AddPages(s.files.Pages()...); err != nil {
		t.Fatal(err)
	}
	edge := &httpapi.Tenant{
		Name: "test", Documents: s.docs, Store: s.store, Authenticate: authenticate, Raw: routes.Raw, Pages: routes.Page, MaxBody: 64 << 20,
		Methods: method.New(method.Config{Table: table, Store: s.store, Documents: s.docs}),
	}
	server := httptest.NewServer(httpapi.New(httpapi.Config{Sites: oneSite{edge}, Account: s.memory}))
	t.Cleanup(server.Close)
	s.url = server.URL
}

type oneSite struct{ site *httpapi.Tenant }

func (o oneSite) Acquire(context.Context, string, *http.Request) (*httpapi.Tenant, func(), error) {
	return o.site, func() {}, nil
}

func authenticate(_ context.Context, r *http.Request, _ func(string) any) (*identity.Caller, error) {
	if c := callers[r.Header.Get("X-Test-User")]; c != nil {
		return c, nil
	}
	return identity.Anonymous(), nil
}

func (s *testSite) call(_ context.Context, caller *identity.Caller, c file.MethodCall) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"user": caller.User, "path": c.Path, "name": c.Name, "type": c.ContentType, "body": string(c.Body), "x": c.Args["x"],
	})
}

func (s *testSite) setting(key string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.settings[key]; ok {
		return json.RawMessage(v)
	}
	return nil
}

func (s *testSite) set(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings[key] = value
}

// later moves the clock of the file service on.
func (s *testSite) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	s.now = func() time.Time { return before().Add(d) }
}

// defineCase makes the DocType that files are attached to: whoever creates a
// Case owns it alone.
func (s *testSite) defineCase() {
	s.create("admin", "DocType", map[string]any{
		"name": "Case", "custom": 1, "max_attachments": 3,
		"fields": []any{
			map[string]any{"fieldname": "title", "fieldtype": "Data"},
			map[string]any{"fieldname": "paper", "fieldtype": "Attach"},
			map[string]any{"fieldname": "photo", "fieldtype": "Attach Image"},
		},
		"permissions": []any{
			map[string]any{"role": "All", "if_owner": 1, "read": 1, "write": 1, "create": 1, "delete": 1},
		},
	})
}

// failing is a hook by which a test refuses a change at any point.
type failing struct{ s *testSite }

func (failing) Handles(string) bool     { return true }
func (failing) RunsPlugins(string) bool { return false }

func (f failing) Run(ctx context.Context, ev *document.Event) error {
	f.s.mu.Lock()
	fail := f.s.fail
	f.s.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(ctx, ev)
}

func (s *testSite) failOn(fail func(context.Context, *document.Event) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = fail
}

var errTest = errors.New("refused by the test")

// gateStorage counts and can break.
type gateStorage struct {
	file.Storage
	puts   atomic.Int64
	broken atomic.Bool
}

func (g *gateStorage) Put(ctx context.Context, key, path string) error {
	g.puts.Add(1)
	if g.broken.Load() {
		return errTest
	}
	return g.Storage.Put(ctx, key, path)
}

// stored lists the keys of blobs, or of chunks.
func (s *testSite) stored(prefix string) []string {
	s.t.Helper()
	var keys []string
	err := s.storage.List(context.Background(), prefix, func(o file.Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

// clean demands that n blobs are stored and that nothing is left on the way in.
func (s *testSite) clean(n int) {
	s.t.Helper()
	if got := s.stored("blob/"); len(got) != n {
		s.t.Errorf("%d blobs are stored, want %d: %v", len(got), n, got)
	}
	spooled, err := os.ReadDir(filepath.Join(s.dir, "files", "tmp"))
	if err != nil || len(spooled) != 0 {
		s.t.Errorf("left in the spool: %v %v", spooled, err)
	}
}

// reply is an answer.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (s *testSite) do(as, verb, path, contentType string, body io.Reader, headers ...string) *reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), verb, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	if as != "" {
		req.Header.Set("X-Test-User", as)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &reply{t: s.t, status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &r.body) // what is not JSON is compared as text
	return r
}

func (s *testSite) get(as, path string, headers ...string) *reply {
	s.t.Helper()
	return s.do(as, "GET", path, "", nil, headers...)
}

func (s *testSite) json(as, verb, path string, body any) *reply {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(as, verb, path, "application/json", bytes.NewReader(text))
}

func (s *testSite) create(as, doctype string, values map[string]any) map[string]any {
	s.t.Helper()
	return s.json(as, "POST", "/api/resource/"+doctype, values).must(200).object("data")
}

// upload sends a file with fields, given as pairs.
func (s *testSite) upload(as, name, content string, fields ...string) *reply {
	s.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1]) // into memory
	}
	if name != "" {
		part, _ := w.CreateFormFile("file", name)
		_, _ = io.WriteString(part, content)
	}
	_ = w.Close()
	return s.do(as, "POST", "/api/method/upload_file", w.FormDataContentType(), &body)
}

func (r *reply) must(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %.500s", r.status, status, r.text)
	}
	return r
}

func (r *reply) fails(status int, excType string) *reply {
	r.t.Helper()
	if r.status != status || r.body["exc_type"] != excType {
		r.t.Errorf("got %d %v, want %d %s: %.500s", r.status, r.body["exc_type"], status, excType, r.text)
	}
	return r
}

func (r *reply) object(key string) map[string]any {
	r.t.Helper()
	m, ok := r.body[key].(map[string]any)
	if !ok {
		r.t.Fatalf("no object under %s: %.500s", key, r.text)
	}
	return m
}

// file is the File that an upload was answered with.
func (r *reply) file() map[string]any {
	r.t.Helper()
	return r.must(200).object("message")
}

// urlPath is a File's URL as it goes into a request line.
func urlPath(f map[string]any) string {
	return (&url.URL{Path: f["file_url"].(string)}).EscapedPath()
}
