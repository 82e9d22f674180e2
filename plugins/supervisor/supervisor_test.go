package supervisor_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/store"
	"armature/plugins/dispatch"
	"armature/plugins/plugintest"
	"armature/plugins/supervisor"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// process is a server with one site, whose plugins are opened and closed.
type process struct {
	t          *testing.T
	supervisor *supervisor.Supervisor
	folder     string // of the site's own plugins
	logged     int    // lines that were handed on at last
	store      document.Store
	schema     *doctype.Schema
	documents  *document.Service
	methods    *method.Service
}

func newProcess(t *testing.T) *process {
	t.Helper()
	ctx := t.Context()
	e, err := engine.New(ctx, engine.Config{Imports: hostapi.Imports(hostapi.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	p := &process{t: t, folder: filepath.Join(t.TempDir(), "own")}
	if p.store, err = store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "site.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.store.Close() })
	if p.schema, err = doctypes.Install(ctx, p.store, time.Now, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if p.supervisor, err = supervisor.New(supervisor.Config{Engine: e, Folder: filepath.Join(t.TempDir(), "shared")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.supervisor.Close)
	if err := p.supervisor.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) config() supervisor.SiteConfig {
	return supervisor.SiteConfig{
		Name: "one", Folder: p.folder,
		Services: func() dispatch.Services {
			return dispatch.Services{Documents: p.documents, Methods: p.methods, Store: p.store}
		},
		Logged: func(_ string, lines []json.RawMessage) { p.logged = len(lines) },
	}
}

// open opens the site as a server does: plugins, services, the first look.
func (p *process) open() *supervisor.Site {
	p.t.Helper()
	s, err := p.supervisor.Open(p.t.Context(), p.config())
	if err != nil {
		p.t.Fatal(err)
	}
	p.documents = document.NewService(document.ServiceConfig{Store: p.store, Catalog: doctype.NewCatalog(p.schema), Hooks: []document.Hooks{s.Hooks()}})
	p.methods = method.New(method.Config{Invoker: s.Invoker(), Store: p.store, Documents: p.documents})
	s.Refresh(p.t.Context())
	return s
}

// put puts acme.a into the site's folder.
func (p *process) put() {
	p.t.Helper()
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "a.wasm"), plugintest.Asks(p.t, "acme.a", "1", "1", nil, "kv_get", "kv_set"), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) call(path string, args map[string]any) (string, error) {
	res, err := p.methods.Run(p.t.Context(), method.Invocation{Path: path, Verb: http.MethodPost, Caller: identity.Root(), Args: method.ArgsMap(args)})
	if err != nil {
		return "", err
	}
	return string(res.Message), nil
}

// TestNap: a site that slept has what its plugins kept, and one that is gone has not.
func TestNap(t *testing.T) {
	p := newProcess(t)
	p.put()
	s := p.open()
	if p.supervisor.Site("one") != s {
		t.Error("an open site is not found")
	}
	if _, err := p.supervisor.Open(t.Context(), p.config()); err == nil {
		t.Error("a site was opened twice")
	}
	if _, err := p.call("acme.a.kv_set", map[string]any{"key": "k", "value": "v"}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if p.supervisor.Site("one") != nil {
		t.Error("a closed site is found")
	}
	if _, err := p.call("acme.a.kv_get", map[string]any{"key": "k"}); err == nil {
		t.Error("a plugin of a closed site was called")
	}

	s = p.open()
	if got, err := p.call("acme.a.kv_get", map[string]any{"key": "k"}); got != `"v"` || err != nil {
		t.Errorf("after a nap: %s, %v", got, err)
	}
	s.Close()
	p.supervisor.Forget("one")
	p.supervisor.Forget("one")
	s = p.open()
	defer s.Close()
	if got, err := p.call("acme.a.kv_get", map[string]any{"key": "k"}); got != "null" || err != nil {
		t.Errorf("of a site that was dropped: %s, %v", got, err)
	}
}

// TestLogsAtClose: what was logged last is handed on when the site is closed, and is the
// site's.
func TestLogsAtClose(t *testing.T) {
	p := newProcess(t)
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "bad.wasm"), []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := p.open()
	if n := len(s.Log("bad", 10)); n != 1 {
		t.Errorf("%d lines about a plugin that cannot be loaded", n)
	}
	s.Close()
	if p.logged != 1 {
		t.Errorf("%d lines were handed on", p.logged)
	}
	s = p.open()
	defer s.Close()
	if n := len(s.Log("bad", 10)); n != 1 {
		t.Errorf("%d lines after a nap, want the new one", n)
	}
}

// TestRun: what is put into a folder while the site is open serves soon, and is in the
// site's records.
func TestRun(t *testing.T) {
	p := newProcess(t)
	s := p.open()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.supervisor.Run(ctx)
	}()
	p.put()
	deadline := time.After(2 * time.Minute) // only ever waited for by a failure
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := p.call("framework.plugins.list", nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []struct{ Status, Version string }
		if err := json.Unmarshal([]byte(list), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].Status == "Active" && all[0].Version == "1" {
			break
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the plugins are %s", list)
		}
	}
	end()
	<-done
	s.Close()
}
