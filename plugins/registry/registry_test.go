package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// generation makes one with a method <name>.run that answers with its version.
// closed counts how often it is closed.
func generation(name, source, version string, closed *atomic.Int64) *registry.Generation {
	return &registry.Generation{
		Manifest: &manifest.Manifest{
			Name: name, Version: version,
			Methods: []manifest.Method{{Path: name + ".run"}, {Path: name + ".too"}},
		},
		Source: source,
		Close: func() {
			if closed != nil {
				closed.Add(1)
			}
		},
	}
}

func bind(g *registry.Generation) (b registry.Binding) {
	for _, m := range g.Manifest.Methods {
		b.Methods = append(b.Methods, &method.Method{Path: m.Path, Func: func(context.Context, *method.Call) (any, error) {
			return g.Manifest.Version, nil
		}})
	}
	for _, h := range g.Manifest.Handlers() {
		b.Handlers = append(b.Handlers, registry.Handler{DocType: h.DocType, Event: h.Event,
			Run: func(_ context.Context, ev *document.Event) error {
				return fmt.Errorf("%s %s of %s", h.Export, g.Manifest.Version, ev.Doc.Type.Name)
			}})
	}
	return b
}

func open(r *registry.Registry) *registry.Site { return r.Open(registry.Terms{Bind: bind}) }

func swap(t *testing.T, scope *registry.Scope, g *registry.Generation) {
	t.Helper()
	if err := scope.Swap(g); err != nil {
		t.Fatal(err)
	}
}

// version calls a path and returns which generation answered; "" for none.
func version(t *testing.T, s *registry.Site, path string) string {
	t.Helper()
	m, g, _ := s.Pin(path)
	if m == nil {
		return ""
	}
	defer g.Release()
	v, err := m.Func(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v.(string)
}

func TestScopes(t *testing.T) {
	r := registry.New()
	one := open(r)
	swap(t, r.Shared(), generation("acme.all", "plugins/all.wasm", "1", nil))
	swap(t, one.Scope, generation("acme.own", "sites/one/own.wasm", "1", nil))
	two := open(r)
	for _, tt := range []struct {
		on   string
		site *registry.Site
		path string
		want string
	}{
		{"one", one, "acme.all.run", "1"}, {"one", one, "acme.own.run", "1"},
		{"two", two, "acme.all.run", "1"}, {"two", two, "acme.own.run", ""},
		{"two", two, "acme.all", ""}, {"two", two, "nothing", ""},
	} {
		if got := version(t, tt.site, tt.path); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.path, tt.on, got, tt.want)
		}
	}
	if !r.Has("acme.all") || !r.Has("acme.own") || r.Has("acme") {
		t.Error("what is installed somewhere is not told from what is not")
	}
	one.Close()
	if r.Has("acme.own") {
		t.Error("a plugin of a closed site is installed still")
	}
}

func TestCollisions(t *testing.T) {
	const shared, own, others = "", "one", "two"
	tests := []struct {
		name          string
		scope         string
		plugin        string
		source        string
		refusedNaming string // another source, or empty when it is taken
	}{
		{"same name", shared, "acme.todo", "b.wasm", "a.wasm"},
		{"same name on a site", own, "acme.todo", "b.wasm", "a.wasm"},
		{"longer", shared, "acme.todo.more", "b.wasm", "a.wasm"},
		{"shorter", own, "acme", "b.wasm", "a.wasm"},
		{"not at a dot", shared, "acme.todos", "b.wasm", ""},
		{"shared against a site's", shared, "acme.own", "b.wasm", "own.wasm"},
		{"another site's", others, "acme.own", "b.wasm", ""},
		{"same source", shared, "acme.todo", "a.wasm", ""},
		{"same source, new name", shared, "acme.todo.more", "a.wasm", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry.New()
			one, two := open(r), open(r)
			scopes := map[string]*registry.Scope{shared: r.Shared(), own: one.Scope, others: two.Scope}
			swap(t, r.Shared(), generation("acme.todo", "a.wasm", "1", nil))
			swap(t, one.Scope, generation("acme.own", "own.wasm", "1", nil))
			err := scopes[tt.scope].Swap(generation(tt.plugin, tt.source, "2", nil))
			if tt.refusedNaming == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, fault.New(fault.Conflict, "", "")) || !strings.Contains(err.Error(), tt.refusedNaming) || !strings.Contains(err.Error(), tt.source) {
				t.Errorf("error %v, want both sources named", err)
			}
			if got := version(t, one, "acme.todo.run"); got != "1" {
				t.Errorf("after a refusal %q serves", got)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	r := registry.New()
	s := open(r)
	var closed atomic.Int64
	first := generation("acme.todo", "a.wasm", "1", &closed)
	swap(t, r.Shared(), first)
	_, pinned, _ := s.Pin("acme.todo.run")
	swap(t, r.Shared(), generation("acme.todo", "a.wasm", "2", &closed))
	if closed.Load() != 0 || first.Pins() != 1 {
		t.Fatalf("closed %d with %d pins", closed.Load(), first.Pins())
	}
	if first.Pin() {
		t.Error("a retired generation was pinned")
	}
	if got := version(t, s, "acme.todo.run"); got != "2" {
		t.Errorf("%q serves", got)
	}
	nested, again, _ := pinned.(method.Invoker).Pin("acme.todo.too")
	if v, err := nested.Func(t.Context(), nil); err != nil || v != "1" {
		t.Errorf("what a call nests came from generation %v, %v", v, err)
	}
	pinned.Release()
	if closed.Load() != 0 {
		t.Error("closed while a nested call held it")
	}
	again.Release()
	if closed.Load() != 1 {
		t.Errorf("closed %d times after the last pin", closed.Load())
	}
	if !r.Shared().Remove("a.wasm") || r.Shared().Remove("a.wasm") {
		t.Error("Remove reports what there was wrongly")
	}
	if closed.Load() != 2 || version(t, s, "acme.todo.run") != "" {
		t.Errorf("after removal: closed %d", closed.Load())
	}
}

func TestClose(t *testing.T) {
	r := registry.New()
	s := open(r)
	var own, all atomic.Int64
	swap(t, s.Scope, generation("acme.own", "own.wasm", "1", &own))
	swap(t, r.Shared(), generation("acme.all", "all.wasm", "1", &all))
	s.Close()
	s.Close()
	if err := s.Swap(generation("acme.late", "late.wasm", "1", nil)); err == nil {
		t.Error("a closed site took a plugin")
	}
	if own.Load() != 1 || all.Load() != 0 || version(t, s, "acme.all.run") != "" {
		t.Errorf("closed own %d, shared %d", own.Load(), all.Load())
	}
}

func TestHandlers(t *testing.T) {
	r := registry.New()
	s := open(r)
	with := func(name, version string, events map[string]string) {
		g := generation(name, name+".wasm", version, nil)
		g.Manifest.Events = map[string]manifest.Event{}
		for key, export := range events {
			g.Manifest.Events[key] = manifest.Event{Export: export}
		}
		swap(t, r.Shared(), g)
	}
	run := func(typeName, event string) string {
		dt := doctype.NewDocType(doctype.DocType{Name: typeName}, nil)
		if err := s.Run(t.Context(), &document.Event{Name: event, Doc: doctype.NewDocument(dt)}); err != nil {
			return err.Error()
		}
		return ""
	}
	if s.Handles("ToDo") || run("ToDo", "validate") != "" {
		t.Error("a site without plugins handles events")
	}
	with("acme.todo", "1", map[string]string{"ToDo.validate": "check"})
	for _, tt := range []struct{ doctype, event, want string }{
		{"ToDo", "validate", "check 1 of ToDo"}, {"ToDo", "on_update", ""}, {"Note", "validate", ""},
	} {
		if got := run(tt.doctype, tt.event); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.event, tt.doctype, got, tt.want)
		}
	}
	if !s.Handles("ToDo") || s.Handles("Note") {
		t.Error("what is handled is not what the manifest says")
	}
	with("acme.audit", "2", map[string]string{"*.validate": "all"})
	if got := run("ToDo", "validate"); got != "all 2 of ToDo" { // acme.audit comes first
		t.Errorf("after a handler of all DocTypes came: %q", got)
	}
	if got := run("Note", "validate"); got != "all 2 of Note" || !s.Handles("Note") {
		t.Errorf("a DocType only * names: %q", got)
	}
	for _, g := range []string{"acme.todo.wasm", "acme.audit.wasm"} {
		if n := r.Shared().Generation(g).Pins(); n != 0 {
			t.Errorf("%s is held %d times after its handlers ran", g, n)
		}
	}
}

// TestHammer swaps and removes under load: every call finds a method, no call
// runs in a closed generation, and every generation is closed once.
func TestHammer(t *testing.T) {
	const swaps = 100
	r := registry.New()
	s := open(r)
	var closed atomic.Int64
	install := func(n int) {
		g := generation("acme.todo", "a.wasm", fmt.Sprint(n), nil)
		var gone atomic.Bool
		g.Close = func() {
			if gone.Swap(true) {
				t.Error("closed twice")
			}
			g.Manifest.Version = "closed" // the race detector sees a call that is still in
			closed.Add(1)
		}
		swap(t, r.Shared(), g)
	}
	install(0)

	stop := make(chan struct{})
	var calls atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				m, g, _ := s.Pin("acme.todo.too")
				if m == nil {
					t.Error("no method during a swap")
					return
				}
				if v, err := m.Func(t.Context(), nil); v == "closed" || err != nil {
					t.Errorf("%v, %v", v, err)
				}
				g.Release()
				calls.Add(1)
			}
		})
	}
	for n := range swaps {
		before := calls.Load()
		install(n + 1)
		for calls.Load() < before+10 && !t.Failed() { // load between any two swaps
			version(t, s, "acme.todo.run")
		}
	}
	close(stop)
	wg.Wait()
	if got := closed.Load(); got != swaps {
		t.Errorf("%d generations closed, want %d", got, swaps)
	}
	t.Logf("%d calls during %d swaps", calls.Load(), swaps)
}

// TestDecisions: a site may keep the version that serves it, or have none.
func TestDecisions(t *testing.T) {
	const path, source = "acme.a.run", "a.wasm"
	var closed atomic.Int64
	r := registry.New()
	decision := registry.Serve
	picky := r.Open(registry.Terms{Bind: bind, Decide: func(_, _ *registry.Generation) registry.Decision { return decision }})
	easy := open(r)
	want := func(p, e string, closes int64) {
		t.Helper()
		if got := version(t, picky, path); got != p {
			t.Errorf("picky has version %q, want %q", got, p)
		}
		if got := version(t, easy, path); got != e {
			t.Errorf("easy has version %q, want %q", got, e)
		}
		if closed.Load() != closes {
			t.Errorf("%d closed, want %d", closed.Load(), closes)
		}
	}
	install := func(v string) { t.Helper(); swap(t, r.Shared(), generation("acme.a", source, v, &closed)) }
	install("1")
	decision = registry.Keep
	install("2")
	want("1", "2", 0)
	install("3")
	want("1", "3", 1) // 2 served nobody any more
	decision = registry.Serve
	picky.Reconsider()
	want("3", "3", 2)
	decision = registry.Off
	picky.Reconsider()
	want("", "3", 2)
	decision = registry.Keep
	install("4") // there was nothing to keep
	want("4", "4", 3)
	install("5")
	want("4", "5", 3)
	r.Shared().Remove(source)
	want("", "", 5)
	install("6")
	install("7")
	want("6", "7", 5)
	picky.Close()
	if closed.Load() != 6 {
		t.Errorf("%d closed after the site is closed", closed.Load())
	}
}
