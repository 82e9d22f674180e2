package stubhost

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"armature/sdk/go"
	"armature/sdk/go/internal/raw"
)

// Answer computes the answer to one host call: anything that encodes as JSON, or
// an error, of which an *armature.Error reaches the plugin as it is.
type Answer func(in armature.Doc) (any, error)

// Line is one line a plugin logged.
type Line struct {
	Level   armature.Level
	Message string // the whole text; JSON if the line had attributes
}

// Host is a stand-in server. Set its fields before the call they are meant for.
type Host struct {
	User   armature.User
	Config map[string]any
	Clock  time.Time // what armature.Now returns; it stands still
	Log    []Line

	t       testing.TB
	docs    map[string][]armature.Doc // by DocType, in order of insertion
	kv      map[string]any
	serial  int
	answers map[string]Answer // by import name
	methods map[string]Answer // by dotted path
	random  *rand.Rand

	input, output []byte
	rest          []byte // what take has still to give
}

// New makes a Host that serves the calls of package armature until the test
// ends. Tests that use one must not run in parallel: a plugin has one host.
func New(t testing.TB) *Host {
	h := &Host{
		User:    armature.User{Name: "test@example.com", FullName: "Test", Roles: []string{"All"}},
		Config:  map[string]any{},
		Clock:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		t:       t,
		docs:    map[string][]armature.Doc{},
		kv:      map[string]any{},
		methods: map[string]Answer{},
		random:  rand.New(rand.NewPCG(1, 2)),
	}
	h.answers = h.standard()
	previous := raw.Use(wire{h})
	t.Cleanup(func() { raw.Use(previous) })
	return h
}

// On replaces the answer to an import, such as "doc_get" or "http_fetch". A test
// stages with it what the stub cannot do by itself.
func (h *Host) On(importName string, answer Answer) { h.answers[importName] = answer }

// Method registers a method for armature.Call to find.
func (h *Host) Method(path string, answer Answer) { h.methods[path] = answer }

// thrown carries an error past the plugin's frames, which throw never returns to.
type thrown struct{ err *armature.Error }

// Call calls an exported function of the plugin as the server does for a POST:
// args are encoded as its input and the output is decoded into result, a pointer
// or nil. The error is the *armature.Error that was thrown; the documents are
// then as they were before. A panic of the plugin is not caught.
func (h *Host) Call(export func(n int32), args, result any) (err error) {
	h.t.Helper()
	if args == nil {
		args = struct{}{}
	}
	if h.input, err = json.Marshal(args); err != nil {
		return err
	}
	h.output = []byte("null")
	before := h.snapshot()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case thrown:
			h.docs = before
			err = r.err
		default:
			panic(r)
		}
	}()
	export(int32(len(h.input)))
	if result == nil {
		return nil
	}
	return json.Unmarshal(h.output, result)
}
