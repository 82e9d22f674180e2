package hostapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/store"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// guest is the guest in testdata/guest, built once per run of the tests.
var guest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", out, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.New(string(text))
	}
	return os.ReadFile(out)
})

// module is the guest, loaded once: every call starts from the same state.
var module = sync.OnceValues(func() (*engine.Module, error) {
	wasm, err := guest()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	// Compiling a Go guest under the race detector takes most of a minute.
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(ctx, engine.Config{
		Imports:  hostapi.Imports(hostapi.Config{Now: now}),
		CacheDir: filepath.Join(cache, "armature-test"),
	})
	if err != nil {
		return nil, err
	}
	return eng.Load(ctx, wasm)
})

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) }

// site is a site with the guest's exports as its methods.
type site struct {
	t         *testing.T
	plugin    hostapi.Plugin
	documents *document.Service
	methods   *method.Service
	caller    *identity.Caller
	module    *engine.Module
	limits    engine.Limits
	store     document.Store
	manual    document.Store // where the guest's methods read until they write; nil: in the transaction
	record    *hostapi.Tape
	ran       []string // the output of each run of the guest
}

func newSite(t *testing.T) *site {
	t.Helper()
	st, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "site.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newSiteOn(t, st)
}

// newSiteOn makes a site in an empty database, which it closes.
func newSiteOn(t *testing.T, st document.Store) *site {
	t.Helper()
	ctx := t.Context()
	t.Cleanup(func() { _ = st.Close() })
	schema, err := doctypes.Install(ctx, st, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, store: st, caller: identity.Root(), limits: engine.Limits{Wall: time.Minute}}
	s.documents = document.NewService(document.ServiceConfig{Store: st, Catalog: doctype.NewCatalog(schema), Now: now})
	s.plugin = hostapi.Plugin{
		Site: "one", Name: "t.guest", Limits: hostapi.DefaultLimits,
		Grants: hostapi.Grant("doc_get", "doc_list", "doc_count", "doc_insert", "doc_update", "doc_delete",
			"doc_submit", "doc_cancel", "method_call", "kv_get", "kv_set", "kv_delete", "http_fetch", "connected_request", "enqueue"),
	}
	methods := s.exports()
	for _, m := range methods {
		m.Tier = method.Ordinary
	}
	table, err := method.NewTable(methods)
	if err != nil {
		t.Fatal(err)
	}
	s.methods = method.New(method.Config{Table: table, Store: st, Documents: s.documents})

	if s.module, err = module(); err != nil {
		t.Fatal(err)
	}
	return s
}

// exports are the guest's exports, and two methods of the platform for it to
// call.
func (s *site) exports() []*method.Method {
	var ms []*method.Method
	for _, name := range []string{"run", "initial", "raw", "silent", "print"} {
		export := "t.guest." + name
		ms = append(ms, &method.Method{Path: export, Func: func(ctx context.Context, call *method.Call) (any, error) {
			input, err := call.Args.JSON()
			if err != nil {
				return nil, err
			}
			st := hostapi.New(&s.plugin, call, input)
			defer st.Free()
			if s.manual != nil {
				st.ReadOutside(s.manual)
			}
			if s.record != nil {
				st.Record(s.record)
			}
			if _, err := st.Run(ctx, s.module, export, s.limits); err != nil {
				return nil, err
			}
			s.ran = append(s.ran, string(st.Output()))
			return json.RawMessage(st.Output()), nil
		}})
	}
	return append(ms,
		&method.Method{Path: "t.host.echo", Func: func(_ context.Context, call *method.Call) (any, error) {
			return call.Args.Map(), nil
		}},
		&method.Method{Path: "t.host.fail", Func: func(ctx context.Context, call *method.Call) (any, error) {
			if _, err := call.Documents.As(call.Caller, call.Tx).Insert(ctx, "ToDo", map[string]any{"description": "lost"}); err != nil {
				return nil, err
			}
			return nil, fault.New(fault.Internal, "", "a secret of the server")
		}},
	)
}

// step and answer are the guest's Step and Answer.
type step struct {
	Import  string  `json:"import"`
	Request any     `json:"request,omitempty"`
	Room    uint32  `json:"room,omitempty"`
	Kind    int32   `json:"kind,omitempty"`
	At      *uint32 `json:"at,omitempty"`
	Length  *uint32 `json:"length,omitempty"`
}

type answer struct {
	Result int64
	Out    string
	Rest   string
}

func (s *site) call(path, verb string, args any) (method.Result, error) {
	s.t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := method.ArgsJSON(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.methods.Run(s.t.Context(), method.Invocation{Path: path, Verb: verb, Caller: s.caller, Args: a, Request: request})
}

// try has the guest take the steps in one call.
func (s *site) try(verb string, steps ...step) ([]answer, error) {
	s.t.Helper()
	res, err := s.call("t.guest.run", verb, map[string]any{"steps": steps})
	if err != nil {
		return nil, err
	}
	var answers []answer
	if err := json.Unmarshal(res.Message, &answers); err != nil {
		s.t.Fatalf("%v in %s", err, res.Message)
	}
	return answers, nil
}

// post is try with a transaction that is committed and that must not fail.
func (s *site) post(steps ...step) []answer {
	s.t.Helper()
	answers, err := s.try("POST", steps...)
	if err != nil {
		s.t.Fatal(err)
	}
	return answers
}

func ask(name string, request any) step { return step{Import: name, Request: request, Room: 64 << 10} }

// document decodes an answer that is a document.
func (a answer) document(t *testing.T) map[string]any {
	t.Helper()
	if a.Result < 0 {
		t.Fatalf("kind %d: %s", -a.Result, a.Rest)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(a.Out), &doc); err != nil {
		t.Fatalf("%v in %q", err, a.Out)
	}
	return doc
}

// refused checks that an answer is an error of the kind and type.
func (a answer) refused(t *testing.T, kind fault.Kind, excType string) string {
	t.Helper()
	var body struct {
		ExcType string `json:"exc_type"`
		Message string `json:"message"`
	}
	if a.Result != -int64(kind) || a.Out != "" {
		t.Fatalf("result %d, out %q; want -%d", a.Result, a.Out, kind)
	}
	if err := json.Unmarshal([]byte(a.Rest), &body); err != nil || body.ExcType != excType {
		t.Errorf("the error is %s (%v), want type %s", a.Rest, err, excType)
	}
	return body.Message
}
