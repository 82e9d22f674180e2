// Package sitetest serves a fresh site over HTTP in a test, on every database
// there is: SQLite always, PostgreSQL where ARMATURE_TEST_POSTGRES names one.
package sitetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/accesslog"
	"armature/core/account"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/proxy"
	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/store"
	"armature/core/tenant"
)

// Server is a server with one empty site.
type Server struct {
	URL    string
	Tenant *tenant.Tenant
	Admin  *Client // the Administrator
	Guest  *Client // without credentials

	set    *sites.Set
	config sites.Config
}

// Client makes requests with one set of credentials.
type Client struct {
	t             testing.TB
	url           string
	Authorization string
}

// Reply is an answer; Body is its JSON.
type Reply struct {
	Status int
	Header http.Header
	Text   string
	Body   map[string]any
}

// Option changes how the site is opened.
type Option func(*sites.Config)

// WithMethods adds methods of the platform, named by plugins that call them.
func WithMethods(methods ...*method.Method) Option {
	for _, m := range methods {
		if m.Tier == 0 {
			m.Tier = method.Named
		}
	}
	return func(c *sites.Config) { c.Methods = append(c.Methods, methods) }
}

// WithHooks has hooks stand where those of plugins do.
func WithHooks(h document.Hooks) Option {
	return func(c *sites.Config) { c.Plugins = hooked{h} }
}

// hooked stands where plugins do, with nothing but hooks.
type hooked struct{ hooks document.Hooks }

func (h hooked) Open(context.Context, *tenant.Tenant) (tenant.PluginSite, error) { return h, nil }
func (hooked) Forget(string)                                                     {}
func (hooked) Invoker() method.Invoker                                           { return nil }
func (h hooked) Hooks() document.Hooks                                           { return h.hooks }
func (hooked) Refresh(context.Context)                                           {}
func (hooked) KVBytes() int64                                                    { return 0 }
func (hooked) Close()                                                            {}

// Each runs a test on a fresh site in every database.
func Each(t *testing.T, test func(t *testing.T, s *Server), options ...Option) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, New(t, "", options...)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, New(t, Postgres(t), options...)) })
}

// Postgres is the database to test on. Without one the test is skipped, except
// on a build machine, where everything must be there.
func Postgres(t testing.TB) string {
	t.Helper()
	database := os.Getenv("ARMATURE_TEST_POSTGRES")
	if database == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("ARMATURE_TEST_POSTGRES names no database, and CI is true")
		}
		t.Skip("ARMATURE_TEST_POSTGRES names no database")
	}
	return database
}

// OnPostgres has an installation of its own on the database to test on.
func OnPostgres(t testing.TB, c *sites.Config) { t.Helper(); OnDatabase(t, c, Postgres(t)) }

// OnDatabase has an installation of its own on a PostgreSQL database that others
// use at the same time: one whose list of sites is in a schema that goes with the
// test, and so do the schemas of all sites that were ever in the list.
func OnDatabase(t testing.TB, c *sites.Config, database string) {
	t.Helper()
	schema := fmt.Sprintf("armature_t%d_%d_%d", os.Getpid(), time.Now().UnixNano(), made.Add(1))
	c.Database, c.Registry = database, schema
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		schemas, err := listed(ctx, database, schema)
		if err != nil {
			t.Error(err)
		}
		for _, name := range append(schemas, schema, schema+"_jobs") {
			if err := store.Drop(ctx, database, name); err != nil {
				t.Error(err)
			}
		}
	})
}

// listed are the schemas of the sites in a list, whatever became of them.
func listed(ctx context.Context, database, schema string) (schemas []string, err error) {
	found, err := store.HasSchema(ctx, database, schema)
	if err != nil || !found {
		return nil, err // no process has used it
	}
	db, err := store.Open(ctx, database, schema, store.Options{MaxConns: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dt, err := doctype.Define(doctype.Definition{Name: "Registered Site", Table: "armature_site"})
	if err != nil {
		return nil, err
	}
	sel := &doctype.Select{DocType: dt, Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}}}
	err = db.Read(ctx, func(tx document.Tx) error {
		schemas = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			name, _ := v[0].(string)
			if strings.HasPrefix(name, "site_") { // else it tells the master key
				schemas = append(schemas, name)
			}
			return nil
		})
	})
	if fault.KindOf(err) == fault.Unavailable {
		return nil, err
	}
	return schemas, nil // without the table: a process was refused before it made one
}

// made numbers the sites, so that no two share a PostgreSQL schema.
var made atomic.Int64

// New serves a fresh site on a database ("" is SQLite) until the test ends.
func New(t testing.TB, database string, options ...Option) *Server {
	t.Helper()
	layout := datafolder.Layout{Data: t.TempDir()}
	if err := layout.Make(); err != nil {
		t.Fatal(err)
	}
	empty, err := newBlank()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(layout.MasterKey(), empty.key, 0o600); err != nil {
		t.Fatal(err)
	}
	master, err := site.LoadMaster(layout.MasterKey())
	if err != nil {
		t.Fatal(err)
	}
	c := sites.Config{
		Config: tenant.Config{Master: master, Version: "test", Password: password}, Layout: layout, Database: database,
	}
	if database != "" {
		OnDatabase(t, &c, database)
	}
	for _, o := range options {
		o(&c)
	}
	name := fmt.Sprintf("t%d-%d-%d", os.Getpid(), time.Now().UnixNano(), made.Add(1))
	copied := copies(&c, master)
	if copied {
		if err := empty.unpack(layout, name); err != nil {
			t.Fatal(err)
		}
	}
	set := sites.NewSet(c)
	t.Cleanup(set.CloseAll)
	begin := set.Create
	if copied {
		begin = set.Open
	}
	first, err := begin(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Tenant: first, set: set, config: c}
	s.URL = s.serve(t, proxy.Trusted{})
	s.Guest = &Client{t: t, url: s.URL}
	s.Admin = s.As(t, identity.Administrator)
	return s
}

// Set is the sites of the server.
func (s *Server) Set() *sites.Set { return s.set }

// Trusting is the same site on a server that takes those who test it for a
// trusted proxy.
func (s *Server) Trusting(t testing.TB) *Server {
	t.Helper()
	trusted, err := proxy.Parse("127.0.0.0/8, ::1", proxy.AllHeaders)
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.URL = s.serve(t, trusted)
	other.Guest = &Client{t: t, url: other.URL}
	other.Admin = &Client{t: t, url: other.URL, Authorization: s.Admin.Authorization}
	return &other
}

// Configure sets a key of the site's configuration.
func (s *Server) Configure(t testing.TB, key, value string) {
	t.Helper()
	_, err := s.set.Registry().Configure(t.Context(), s.Tenant.Site.Name, func(c *site.Config) (*site.Config, error) {
		return c.With(key, json.RawMessage(value))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.set.Refresh(t.Context())
}

// Twin is another server with the same site, as another process would be: nothing
// but the database is shared, and it looks for changes only when asked to.
func (s *Server) Twin(t testing.TB) *Server {
	t.Helper()
	set := sites.NewSet(s.config)
	t.Cleanup(set.CloseAll)
	set.Refresh(t.Context())
	twin := &Server{set: set, config: s.config}
	twin.URL = twin.serve(t, proxy.Trusted{})
	twin.Guest = &Client{t: t, url: twin.URL}
	twin.Admin = &Client{t: t, url: twin.URL, Authorization: s.Admin.Authorization}
	return twin
}

func (s *Server) serve(t testing.TB, trusted proxy.Trusted) string {
	srv := httptest.NewServer(s.handler(trusted))
	t.Cleanup(srv.Close)
	return srv.URL
}

// Handler answers requests as the server does, without a network.
func (s *Server) Handler() http.Handler { return s.handler(proxy.Trusted{}) }

func (s *Server) handler(trusted proxy.Trusted) http.Handler {
	return httpapi.New(httpapi.Config{Sites: s.set, Ready: s.set.Ready, Proxies: trusted})
}

// Charged is Handler with an account of the memory that requests take.
func (s *Server) Charged(a *account.Account) http.Handler {
	return httpapi.New(httpapi.Config{Sites: s.set, Ready: s.set.Ready, Account: a})
}

// Logged serves the same sites with an access log until stop is called.
func (s *Server) Logged(log *accesslog.Log) (address string, stop func()) {
	srv := httptest.NewServer(httpapi.New(httpapi.Config{Sites: s.set, Ready: s.set.Ready, Access: log}))
	return srv.URL, srv.Close
}

// As makes API keys for a user and a client that uses them.
func (s *Server) As(t testing.TB, user string) *Client {
	t.Helper()
	var authorization string
	err := s.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		keys, err := s.Tenant.Auth.GenerateKeys(t.Context(), tx, identity.Root(), user)
		authorization = "token " + keys.Key + ":" + keys.Secret
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Client{t: t, url: s.URL, Authorization: authorization}
}

// User makes a user with roles and returns a client for it.
func (s *Server) User(t testing.TB, email string, roles ...string) *Client {
	t.Helper()
	rows := []any{}
	for _, r := range roles {
		rows = append(rows, map[string]any{"role": r})
	}
	s.Admin.Post("/api/resource/User", map[string]any{"email": email, "first_name": "Test", "roles": rows}).OK(t)
	return s.As(t, email)
}

// Basic is the same client with its key sent as Basic credentials.
func (c *Client) Basic() *Client {
	pair := strings.TrimPrefix(c.Authorization, "token ")
	return &Client{t: c.t, url: c.url, Authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}
}

// On is the same client failing another test, for subtests.
func (c *Client) On(t testing.TB) *Client {
	return &Client{t: t, url: c.url, Authorization: c.Authorization}
}

// Get makes a GET; params are pairs of a name and a value, which is sent as it
// is when it is text and as JSON otherwise.
func (c *Client) Get(path string, params ...any) *Reply {
	c.t.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		text, isText := params[i+1].(string)
		if !isText {
			text = string(c.marshal(params[i+1]))
		}
		q.Set(params[i].(string), text)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.Do(http.MethodGet, path, "", nil)
}

// Post, Put and Delete send a JSON body.
func (c *Client) Post(path string, body any) *Reply {
	c.t.Helper()
	return c.Do(http.MethodPost, path, "application/json", c.marshal(body))
}

// Put makes a PUT with a JSON body.
func (c *Client) Put(path string, body any) *Reply {
	c.t.Helper()
	return c.Do(http.MethodPut, path, "application/json", c.marshal(body))
}

// Delete makes a DELETE.
func (c *Client) Delete(path string) *Reply {
	c.t.Helper()
	return c.Do(http.MethodDelete, path, "", nil)
}

func (c *Client) marshal(v any) []byte {
	c.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// Do makes any request. The path goes out as it is, so it must be encoded.
func (c *Client) Do(verb, path, contentType string, body []byte) *Reply {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), verb, c.url+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.Authorization != "" {
		req.Header.Set("Authorization", c.Authorization)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	r := &Reply{Status: res.StatusCode, Header: res.Header, Text: string(text)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &r.Body); err != nil {
			c.t.Fatalf("%s %s answered what is not JSON: %v: %s", verb, path, err, text)
		}
	}
	return r
}

// OK demands 200 and returns the reply.
func (r *Reply) OK(t testing.TB) *Reply {
	t.Helper()
	if r.Status != http.StatusOK {
		t.Fatalf("status %d: %s", r.Status, r.Text)
	}
	return r
}

// Fails demands a status and an exc_type.
func (r *Reply) Fails(t testing.TB, status int, excType string) *Reply {
	t.Helper()
	if r.Status != status || r.Body["exc_type"] != excType {
		t.Fatalf("got %d %v, want %d %s: %s", r.Status, r.Body["exc_type"], status, excType, r.Text)
	}
	return r
}

// Data is the object under "data".
func (r *Reply) Data(t testing.TB) map[string]any {
	t.Helper()
	data, ok := r.OK(t).Body["data"].(map[string]any)
	if !ok {
		t.Fatalf("no object under data: %s", r.Text)
	}
	return data
}

// List is the array under "data".
func (r *Reply) List(t testing.TB) []any {
	t.Helper()
	data, ok := r.OK(t).Body["data"].([]any)
	if !ok {
		t.Fatalf("no array under data: %s", r.Text)
	}
	return data
}

// Column is one key of every row under "data".
func (r *Reply) Column(t testing.TB, key string) []any {
	t.Helper()
	values := []any{}
	for _, row := range r.List(t) {
		values = append(values, row.(map[string]any)[key])
	}
	return values
}

// Message is what stands under "message".
func (r *Reply) Message(t testing.TB) any {
	t.Helper()
	return r.OK(t).Body["message"]
}

// Told is the first message of _server_messages, which is JSON in JSON in JSON.
func (r *Reply) Told(t testing.TB) string {
	t.Helper()
	outer, _ := r.Body["_server_messages"].(string)
	var items []string
	if err := json.Unmarshal([]byte(outer), &items); err != nil || len(items) == 0 {
		t.Fatalf("_server_messages: %v: %s", err, r.Text)
	}
	var inner struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal([]byte(items[0]), &inner); err != nil {
		t.Fatalf("_server_messages: %v: %s", err, r.Text)
	}
	return inner.Message
}
