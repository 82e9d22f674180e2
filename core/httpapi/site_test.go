package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"armature/core/accesslog"
	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/httpapi"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/notice"
	"armature/core/route"
	"armature/core/scope"
	"armature/core/site"
	"armature/core/store"
)

// callers are who the test site knows, by the value of the header X-Test-User.
var callers = map[string]*identity.Caller{
	"admin": identity.Root(),
	"desk": {User: "desk@example.com", FullName: "Desk", Desk: true,
		Roles: []string{identity.DeskUser, identity.All, identity.Guest}},
	"web":         {User: "web@example.com", FullName: "Web", Roles: []string{identity.All, identity.Guest}},
	"todo-reader": {User: identity.Administrator, Desk: true, Scopes: []*scope.Set{scope.Token("resource:ToDo:read")}},
	"todo-writer": {User: "web@example.com", Elevated: true, Scopes: []*scope.Set{scope.Token("resource:ToDo:write", "resource:Note%20Seen%20By:read")}},
	"all-reader":  {User: identity.Administrator, Desk: true, Scopes: []*scope.Set{scope.Token("resource:*:read")}},
	"anything":    {User: identity.Administrator, Desk: true, Scopes: []*scope.Set{scope.Token("all")}},
	"scoped":      {User: "web@example.com", Roles: []string{identity.All, identity.Guest}, Scopes: []*scope.Set{scope.Token("openid", "method:test.*")}},
}

// testSite is a site on a real database, behind the whole handler.
type testSite struct {
	t       testing.TB
	site    *httpapi.Tenant
	handler http.Handler
	log     *bytes.Buffer
	ready   error
}

func newSite(t *testing.T) *testSite {
	t.Helper()
	s := newSiteIn(t, t.TempDir())
	s.t = t
	return s
}

func newSiteIn(t testing.TB, dir string) *testSite {
	t.Helper()
	ctx := context.Background()
	now := time.Now
	db, err := store.OpenSQLite(ctx, filepath.Join(dir, "site.db"), store.Options{Durability: store.Crash})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	schema, err := doctypes.Install(ctx, db, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	documents := document.NewService(document.ServiceConfig{
		Store: db, Catalog: doctype.NewCatalog(schema), Sealer: site.NewSecret([32]byte{1}), Now: now,
	})
	methods := testMethods()
	for _, m := range methods {
		m.Tier = method.Named
	}
	table, err := method.NewTable(method.Framework("1.2.3"), methods)
	if err != nil {
		t.Fatal(err)
	}
	s := &testSite{log: &bytes.Buffer{}}
	s.site = &httpapi.Tenant{
		Name: "test", Documents: documents, Store: db, Authenticate: authenticate,
		Methods: method.New(method.Config{
			Table: table, Store: db, Documents: documents, Invoker: plugins{},
			Aliases: map[string]string{"oldbrand.": "framework."},
			Caller: func(_ context.Context, user string) (*identity.Caller, error) {
				name, _, _ := strings.Cut(user, "@")
				return callers[name], nil
			},
			Observe: func(ctx context.Context, fn func(string, []any, time.Duration)) context.Context {
				return store.WithObserver(ctx, fn)
			},
		}),
		Raw: rawMethod,
		Observe: func(ctx context.Context, fn func(string, []any, time.Duration)) context.Context {
			return store.WithObserver(ctx, fn)
		},
	}
	access := accesslog.New(s.log, accesslog.Text)
	access.Close() // so that nothing is late
	log := slog.New(slog.NewTextHandler(access.Beside(), nil))
	s.handler = httpapi.New(httpapi.Config{
		Sites:  s,
		Ready:  func(context.Context) error { return s.ready },
		Logger: log, Access: access,
	})
	return s
}

// Acquire makes the test site answer every host but one.
func (s *testSite) Acquire(_ context.Context, host string, _ *http.Request) (*httpapi.Tenant, func(), error) {
	if host == "nowhere.example" {
		return nil, nil, fault.Missing("No site answers %s", host)
	}
	return s.site, func() {}, nil
}

func authenticate(_ context.Context, r *http.Request, _ func(string) any) (*identity.Caller, error) {
	name := r.Header.Get("X-Test-User")
	if c := callers[name]; c != nil {
		return c, nil
	}
	if name != "" || r.Header.Get("Authorization") != "" {
		return nil, fault.New(fault.Authentication, "", "Wrong credentials")
	}
	return identity.Anonymous(), nil
}

// plugins has one export that no manifest lists.
type plugins struct{}

func (plugins) Pin(path string) (*method.Method, method.Pin, bool) {
	return nil, nil, path == "acme.todo.hidden"
}

func testMethods() []*method.Method {
	guest := func(path string, fn func(context.Context, *method.Call) (any, error)) *method.Method {
		return &method.Method{Path: path, AllowGuest: true, Func: fn}
	}
	return []*method.Method{
		guest("test.echo", func(_ context.Context, c *method.Call) (any, error) { return c.Args.Map(), nil }),
		guest("test.data", func(_ context.Context, c *method.Call) (any, error) { return c.Args.Get("data"), nil }),
		guest("test.nothing", func(context.Context, *method.Call) (any, error) { return nil, nil }),
		guest("test.zero", func(context.Context, *method.Call) (any, error) { return 0, nil }),
		guest("test.raise", func(_ context.Context, c *method.Call) (any, error) {
			e := fault.Invalid("", "%s", "M \"quoted\" <b>")
			e.Trace = []string{"at todo.rs:7 in close", "at todo.rs:3 in main"}
			return nil, e
		}),
		guest("test.long", func(_ context.Context, c *method.Call) (any, error) {
			n, err := strconv.Atoi(fmt.Sprint(c.Args.Get("size")))
			text := strings.Repeat("some text that is long. ", n/24)
			if c.Args.Get("fail") != nil {
				return nil, fault.Invalid("", "%s", text)
			}
			return text, err
		}),
		guest("test.broken", func(context.Context, *method.Call) (any, error) {
			return nil, errors.New("secret detail of the inside")
		}),
		guest("test.panics", func(context.Context, *method.Call) (any, error) { panic("secret detail of a panic") }),
		guest("test.unencodable", func(context.Context, *method.Call) (any, error) { return make(chan int), nil }),
		guest("test.message", func(ctx context.Context, _ *method.Call) (any, error) {
			notice.Of(ctx).Add(notice.Notice{Text: "Saved"})
			return "x", nil
		}),
		guest("test.reply", func(_ context.Context, c *method.Call) (any, error) {
			c.Reply = &method.Reply{Status: 418, Body: []byte("<p>tea</p>"), Header: http.Header{
				"content-type": {"text/html"}, "Set-Cookie": {"sid=stolen"}, "X-Teapot": {"1"},
			}}
			return nil, nil
		}),
		guest("test.request", func(_ context.Context, c *method.Call) (any, error) {
			return map[string]any{
				"query": c.Request.RawQuery, "body": string(c.Request.Body),
				"authorization": c.Request.Header().Get("Authorization"), "cookie": c.Request.Header().Get("Cookie"),
				"x": c.Request.Header().Get("X-Other"), "verb": c.Verb,
			}, nil
		}),
		{Path: "test.members", Func: func(context.Context, *method.Call) (any, error) { return "in", nil }},
		{Path: "test.managers", Roles: []string{identity.SystemManager}, Func: func(context.Context, *method.Call) (any, error) { return "in", nil }},
		{Path: "test.write", Func: writeNote},
		{Path: "test.declared", Writes: true, Func: writeNote},
		{Path: "test.half", Func: func(ctx context.Context, c *method.Call) (any, error) {
			if _, err := writeNote(ctx, c); err != nil {
				return nil, err
			}
			return nil, fault.Invalid("", "half way")
		}},
	}
}

func writeNote(ctx context.Context, c *method.Call) (any, error) {
	doc, err := c.Documents.As(c.Caller, c.Tx).Insert(ctx, "Note", map[string]any{"title": c.Args.Text("title")})
	if err != nil {
		return nil, err
	}
	return doc.Name(), nil
}

func rawMethod(path string) *route.Raw {
	switch path {
	case "test.raw", "framework.raw":
		return &route.Raw{Verbs: []string{"POST"}, Serve: func(w http.ResponseWriter, _ *http.Request, c *route.Call) error {
			args, err := c.Args()
			if err != nil {
				return err
			}
			_, err = io.WriteString(w, "raw "+c.Caller.User+" "+args.Text("a"))
			return err
		}}
	case "test.rawclient":
		return &route.Raw{NoCredentials: true, Serve: func(w http.ResponseWriter, r *http.Request, c *route.Call) error {
			id, _, _ := r.BasicAuth()
			_, err := io.WriteString(w, id+" "+c.Caller.User)
			return err
		}}
	case "test.rawfails":
		return &route.Raw{Serve: func(_ http.ResponseWriter, r *http.Request, _ *route.Call) error {
			_, err := io.ReadAll(r.Body)
			return errors.Join(err, fault.Invalid("", "raw failure"))
		}}
	case "test.rawbreaks":
		return &route.Raw{Serve: func(w http.ResponseWriter, _ *http.Request, _ *route.Call) error {
			_, _ = io.WriteString(w, "half an ans")
			return errors.New("broken")
		}}
	}
	return nil
}

// request is one request of a test.
type request struct {
	as     string // key of callers; empty: Guest
	verb   string // empty: GET
	path   string
	body   string
	typ    string // content type; empty with a body: application/json; "-": none
	header http.Header
}

// answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (s *testSite) do(r request) *answer {
	s.t.Helper()
	if r.verb == "" {
		r.verb = http.MethodGet
	}
	req := httptest.NewRequest(r.verb, "http://site.example"+r.path, strings.NewReader(r.body))
	for key, values := range r.header {
		req.Header[key] = values
	}
	if r.as != "" {
		req.Header.Set("X-Test-User", r.as)
	}
	switch {
	case r.body == "" || r.typ == "-":
	case r.typ == "":
		req.Header.Set("Content-Type", "application/json")
	default:
		req.Header.Set("Content-Type", r.typ)
	}
	return s.serve(req)
}

func (s *testSite) serve(req *http.Request) *answer {
	s.t.Helper()
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, req)
	a := &answer{t: s.t, status: rec.Code, header: rec.Header(), text: rec.Body.String()}
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && a.text != "" {
		if err := json.Unmarshal([]byte(a.text), &a.body); err != nil {
			s.t.Fatalf("%s %s: not JSON: %v\n%s", req.Method, req.URL, err, a.text)
		}
	}
	return a
}

// must fails the test at once unless the status is the wanted one.
func (a *answer) must(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.text)
	}
	return a
}

// data is the object under "data".
func (a *answer) data() map[string]any {
	a.t.Helper()
	m, ok := a.body["data"].(map[string]any)
	if !ok {
		a.t.Fatalf("no object under data: %s", a.text)
	}
	return m
}

// rows is the list under "data".
func (a *answer) rows() []any {
	a.t.Helper()
	l, ok := a.body["data"].([]any)
	if !ok {
		a.t.Fatalf("no list under data: %s", a.text)
	}
	return l
}

func (s *testSite) create(as, doctype, body string) map[string]any {
	s.t.Helper()
	return s.do(request{as: as, verb: "POST", path: "/api/resource/" + doctype, body: body}).must(200).data()
}
