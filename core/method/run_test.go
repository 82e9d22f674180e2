package method_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/notice"
	"armature/core/scope"
)

func TestTableRefuses(t *testing.T) {
	do := func(context.Context, *method.Call) (any, error) { return nil, nil }
	tests := map[string][]*method.Method{
		"taken":        {{Path: "a.b", Tier: method.Named, Func: do}, {Path: "a.b", Tier: method.Named, Func: do}},
		"empty path":   {{Tier: method.Named, Func: do}},
		"slash":        {{Path: "a/b", Tier: method.Named, Func: do}},
		"no function":  {{Path: "a.b", Tier: method.Named}},
		"no tier":      {{Path: "a.b", Func: do}},
		"unknown verb": {{Path: "a.b", Tier: method.Named, Func: do, Verbs: []string{"FETCH"}}},
	}
	for name, methods := range tests {
		if _, err := method.NewTable(methods); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCanonical(t *testing.T) {
	s := method.New(method.Config{Aliases: map[string]string{
		"old.": "framework.", "old.client.": "fast.client.", "framework.loop": "old.loop",
	}})
	tests := map[string]string{
		"old.ping":       "framework.ping",
		"old.client.get": "fast.client.get",
		"older.ping":     "older.ping",
		"framework.loop": "old.loop",
		"framework.ping": "framework.ping",
	}
	for path, want := range tests {
		if got := s.Canonical(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestAdmission(t *testing.T) {
	do := func(context.Context, *method.Call) (any, error) { return "in", nil }
	s := newService(t, &fakeStore{},
		&method.Method{Path: "t.any", Func: do},
		&method.Method{Path: "t.open", AllowGuest: true, Func: do},
		&method.Method{Path: "t.post", Verbs: []string{"POST"}, Func: do},
		&method.Method{Path: "t.get", Verbs: []string{"GET"}, Func: do},
		&method.Method{Path: "t.role", Roles: []string{"A", "B"}, Func: do},
		&method.Method{Path: "t.free", AnyScope: true, Func: do},
	)
	guest, admin := identity.Anonymous(), identity.Root()
	narrowAdmin := *admin
	narrowAdmin.Scopes = []*scope.Set{scope.Token("openid")}
	inRole := &identity.Caller{User: "b", Roles: []string{"B"}}
	elevated := &identity.Caller{User: "e", Elevated: true, Scopes: []*scope.Set{scope.Token("method:other")}}
	tests := []struct {
		name   string
		verb   string
		path   string
		caller *identity.Caller
		ok     bool
	}{
		{"any verb", "PUT", "t.any", user(), true},
		{"unknown verb", "PATCH", "t.any", user(), false},
		{"Guest", "GET", "t.any", guest, false},
		{"Guest where open", "GET", "t.open", guest, true},
		{"wrong verb", "GET", "t.post", user(), false},
		{"right verb", "POST", "t.post", user(), true},
		{"HEAD as GET", "HEAD", "t.get", user(), true},
		{"without the role", "GET", "t.role", user(), false},
		{"with one of the roles", "GET", "t.role", inRole, true},
		{"Administrator has every role", "GET", "t.role", admin, true},
		{"scope all", "GET", "t.any", user("all"), true},
		{"scope of the path", "GET", "t.any", user("method:t.any"), true},
		{"scope of a prefix", "GET", "t.any", user("x", "method:t.*"), true},
		{"scope of everything", "GET", "t.any", user("method:*"), true},
		{"scope of another", "GET", "t.any", user("method:t.an"), false},
		{"not narrowed", "GET", "t.any", user(), true},
		{"empty scopes", "GET", "t.any", &identity.Caller{User: "u", Scopes: []*scope.Set{scope.Token()}}, false},
		{"scope of a resource", "GET", "t.any", user("resource:*:read"), false},
		{"scope not asked", "GET", "t.free", user("openid"), true},
		{"scopes narrow Administrator", "GET", "t.any", &narrowAdmin, false},
		{"elevated skips roles, not scopes", "GET", "t.role", elevated, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Run(context.Background(), method.Invocation{Path: tt.path, Verb: tt.verb, Caller: tt.caller})
			if tt.ok != (err == nil) || !tt.ok && fault.KindOf(err) != fault.Permission {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOutOfScopeNamesTheScope(t *testing.T) {
	s := newService(t, &fakeStore{}, &method.Method{Path: "t.any", Func: func(context.Context, *method.Call) (any, error) { return nil, nil }})
	_, err := s.Run(context.Background(), method.Invocation{Path: "t.any", Verb: "GET", Caller: user("openid")})
	var scoped interface{ NeededScope() string }
	if !errors.As(err, &scoped) || scoped.NeededScope() != "method:t.any" {
		t.Errorf("got %v", err)
	}
}

func TestTransaction(t *testing.T) {
	read := func(context.Context, *method.Call) (any, error) { return 1, nil }
	write := func(ctx context.Context, c *method.Call) (any, error) { return c.Tx.Next(ctx, "n") }
	fail := func(context.Context, *method.Call) (any, error) { return nil, errors.New("no") }
	outside := func(ctx context.Context, c *method.Call) (any, error) {
		c.Tx.SideEffects().Trial().Spend()
		return c.Tx.Next(ctx, "n")
	}
	type counts struct{ reads, runs, commits, rollbacks int }
	tests := []struct {
		name    string
		verb    string
		fn      fn
		writes  bool
		retries int
		want    counts
		kind    fault.Kind // 0: success
	}{
		{"GET reads", "GET", read, false, 0, counts{1, 0, 0, 0}, 0},
		{"GET writes", "GET", write, false, 0, counts{1, 1, 0, 1}, 0},
		{"GET says it writes", "GET", write, true, 0, counts{0, 1, 0, 1}, 0},
		{"GET fails", "GET", fail, false, 0, counts{1, 0, 0, 0}, fault.Internal},
		{"GET writes after calling out", "GET", outside, false, 0, counts{1, 1, 0, 1}, fault.Unavailable},
		{"POST", "POST", write, false, 0, counts{0, 1, 1, 0}, 0},
		{"DELETE", "DELETE", read, true, 0, counts{0, 1, 1, 0}, 0},
		{"POST fails", "POST", fail, false, 0, counts{0, 1, 0, 1}, fault.Internal},
		{"POST twice", "POST", write, false, 1, counts{0, 2, 1, 0}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := &fakeStore{retries: tt.retries}
			s := newService(t, st, &method.Method{Path: "t.m", Writes: tt.writes, Func: tt.fn})
			_, err := s.Run(context.Background(), call(tt.verb, "t.m"))
			if (err == nil) != (tt.kind == 0) || err != nil && fault.KindOf(err) != tt.kind {
				t.Errorf("got %v", err)
			}
			if got := (counts{st.reads, st.runs, st.commits, st.rollbacks}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if st.mode != document.PluginTx {
				t.Errorf("mode %v", st.mode)
			}
		})
	}
}

func TestEveryAttemptIsFresh(t *testing.T) {
	var calls []*method.Call
	s := newService(t, &fakeStore{retries: 2}, &method.Method{Path: "t.m", Func: func(ctx context.Context, c *method.Call) (any, error) {
		if len(notice.Of(ctx).All()) != 0 || c.Extra != nil || c.Args.Text("a") != "1" {
			t.Errorf("the call is not fresh: %+v", c)
		}
		notice.Of(ctx).Add(notice.Notice{Text: "m"})
		c.Extra = map[string]any{"k": 1}
		c.Args.Map()["a"] = "changed"
		calls = append(calls, c)
		return "x", nil
	}})
	args, err := method.ArgsJSON([]byte(`{"a":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	in := call("POST", "t.m")
	in.Args = args
	res, err := s.Run(context.Background(), in)
	if err != nil || len(calls) != 3 || len(res.Messages) != 1 || string(res.Extra) != `{"k":1}` || string(res.Message) != `"x"` {
		t.Errorf("%d calls, %+v, %v", len(calls), res, err)
	}
}

func TestPanicIsAFault(t *testing.T) {
	st := &fakeStore{}
	s := newService(t, st, &method.Method{Path: "t.m", Func: func(context.Context, *method.Call) (any, error) { panic("boom") }})
	_, err := s.Run(context.Background(), call("POST", "t.m"))
	e := fault.From(err)
	if e.Kind != fault.Internal || strings.Contains(e.Message, "boom") || !strings.Contains(err.Error(), "boom") || !strings.Contains(err.Error(), "run_test.go") {
		t.Errorf("got %v", err)
	}
	if st.rollbacks != 1 {
		t.Error("not rolled back")
	}
}

func TestPluginsMethods(t *testing.T) {
	p := &fakePlugins{hidden: "acme.hidden", methods: map[string]*method.Method{
		"acme.m": {Path: "acme.m", Func: func(context.Context, *method.Call) (any, error) { return 1, nil }},
	}}
	s := method.New(method.Config{Invoker: p, Store: &fakeStore{}})
	if _, err := s.Run(context.Background(), call("GET", "acme.m")); err != nil || p.held != 0 {
		t.Errorf("%v, %d generations held", err, p.held)
	}
	_, err := s.Run(context.Background(), call("GET", "acme.hidden"))
	if e := fault.From(err); e == nil || e.Kind != fault.Permission || e.Title != "Method Not Allowed" {
		t.Errorf("got %v", err)
	}
	_, err = s.Run(context.Background(), call("GET", "acme.none"))
	if e := fault.From(err); e == nil || e.Kind != fault.Validation || e.Message != "Failed to get method for command acme.none" {
		t.Errorf("got %v", err)
	}
}

func TestNested(t *testing.T) {
	type m = method.Method
	var tx *fakeTx
	nest := func(path string) fn {
		return func(ctx context.Context, c *method.Call) (any, error) {
			tx, _ = c.Tx.(*fakeTx)
			res, err := c.Methods.Nested(ctx, c, c.Caller, path, method.ArgsMap(map[string]any{"a": "1"}))
			return res.Message, err
		}
	}
	guest := &struct{}{}
	s := newService(t, &fakeStore{},
		&m{Path: "t.parent", Func: func(ctx context.Context, c *method.Call) (any, error) {
			c.PluginCall = guest
			return nest("t.child")(ctx, c)
		}},
		&m{Path: "t.child", Func: func(ctx context.Context, c *method.Call) (any, error) {
			if c.PluginCall != guest || c.Parent == nil || c.Depth != 1 || c.Verb != "POST" {
				t.Errorf("the child got %+v", c)
			}
			notice.Of(ctx).Add(notice.Notice{Text: "from the child"})
			return c.Args.Text("a"), nil
		}},
		&m{Path: "t.fails", Func: func(ctx context.Context, _ *method.Call) (any, error) {
			notice.Of(ctx).Add(notice.Notice{Text: "undone"})
			return nil, fault.Invalid("", "no")
		}},
		&m{Path: "t.catches", Func: func(ctx context.Context, c *method.Call) (any, error) {
			tx, _ = c.Tx.(*fakeTx)
			_, err := c.Methods.Nested(ctx, c, c.Caller, "t.fails", method.Args{})
			return err != nil, nil
		}},
		&m{Path: "t.endless", Func: nest("t.endless")},
		&m{Path: "t.putonly", Verbs: []string{http.MethodPut}, Func: nest("t.child")},
		&m{Path: "t.wrongverb", Func: nest("t.putonly")},
		&m{Path: "t.unknown", Func: nest("t.none")},
	)
	res, err := s.Run(context.Background(), call("POST", "t.parent"))
	if err != nil || string(res.Message) != `"1"` || len(res.Messages) != 1 || tx.savepoints != 1 {
		t.Errorf("%+v, %v, %+v", res, err, tx)
	}
	if res, err = s.Run(context.Background(), call("POST", "t.catches")); err != nil || string(res.Message) != "true" || tx.undone != 1 || len(res.Messages) != 0 {
		t.Errorf("%+v, %v, %+v", res, err, tx)
	}
	tests := map[string]fault.Kind{"t.endless": fault.Exhausted, "t.wrongverb": fault.Permission, "t.unknown": fault.Validation}
	for path, kind := range tests {
		if _, err := s.Run(context.Background(), call("POST", path)); fault.KindOf(err) != kind {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNestedInAViewTakesNoSavepoint(t *testing.T) {
	var tx *fakeTx
	s := newService(t, &fakeStore{}, &method.Method{Path: "t.m", Func: func(ctx context.Context, c *method.Call) (any, error) {
		tx = c.Tx.(*fakeTx)
		return c.Methods.Nested(ctx, c, c.Caller, "ping", method.Args{})
	}})
	if _, err := s.Run(context.Background(), call("GET", "t.m")); err != nil || tx.savepoints != 0 {
		t.Errorf("%v, %+v", err, tx)
	}
}

func TestNestedWritePassesReadOnlyOn(t *testing.T) {
	st := &fakeStore{}
	s := newService(t, st,
		&method.Method{Path: "t.parent", Func: func(ctx context.Context, c *method.Call) (any, error) {
			res, err := c.Methods.Nested(ctx, c, c.Caller, "t.write", method.Args{})
			return res.Message, err
		}},
		&method.Method{Path: "t.write", Func: func(ctx context.Context, c *method.Call) (any, error) { return c.Tx.Next(ctx, "n") }},
	)
	res, err := s.Run(context.Background(), call("GET", "t.parent"))
	if err != nil || string(res.Message) != "1" || st.reads != 1 || st.rollbacks != 1 {
		t.Errorf("%+v, %v, %+v", res, err, st)
	}
}

// generation is a pin that resolves within its own generation.
type generation struct {
	fakePin
	own *fakePlugins
}

func (g *generation) Pin(path string) (*method.Method, method.Pin, bool) { return g.own.Pin(path) }

type generations struct{ old, now *fakePlugins }

func (g *generations) Pin(path string) (*method.Method, method.Pin, bool) {
	m, _, known := g.old.Pin(path)
	return m, &generation{fakePin{g.old}, g.old}, known
}

func TestNestedStaysInItsGeneration(t *testing.T) {
	do := func(s string) fn { return func(context.Context, *method.Call) (any, error) { return s, nil } }
	g := &generations{}
	g.now = &fakePlugins{methods: map[string]*method.Method{"acme.b": {Path: "acme.b", Func: do("new")}}}
	g.old = &fakePlugins{methods: map[string]*method.Method{
		"acme.b": {Path: "acme.b", Func: do("old")},
		"acme.a": {Path: "acme.a", Func: func(ctx context.Context, c *method.Call) (any, error) {
			res, err := c.Methods.Nested(ctx, c, c.Caller, "acme.b", method.Args{})
			return res.Message, err
		}},
	}}
	s := method.New(method.Config{Invoker: g, Store: &fakeStore{}})
	res, err := s.Run(context.Background(), call("GET", "acme.a"))
	if err != nil || string(res.Message) != `"old"` || g.old.held != 0 {
		t.Errorf("%s, %v, %d held", res.Message, err, g.old.held)
	}
}
