package method_test

import (
	"context"
	"errors"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/scope"
)

// fakeStore plays the transactions of a store without a database.
type fakeStore struct {
	document.Store
	retries int // how often a write is run again before it may end

	reads, commits, rollbacks int
	runs                      int
	mode                      document.Mode
}

func (s *fakeStore) Read(_ context.Context, fn func(document.Tx) error) error {
	s.reads++
	return fn(newFakeTx(true))
}

func (s *fakeStore) View(ctx context.Context, _ *document.ViewHistory, fn func(document.Tx) error) error {
	return s.Read(ctx, fn)
}

func (s *fakeStore) Write(_ context.Context, mode document.Mode, fn func(document.Tx) error) error {
	s.mode = mode
	for {
		s.runs++
		err := fn(newFakeTx(false))
		switch {
		case errors.Is(err, document.ErrRollback):
			s.rollbacks++
			return nil
		case err != nil:
			s.rollbacks++
			return err
		case s.retries == 0:
			s.commits++
			return nil
		}
		s.retries--
	}
}

type fakeTx struct {
	document.Tx
	readOnly   bool
	savepoints int
	undone     int
	aside      document.SideEffects
}

func newFakeTx(readOnly bool) *fakeTx {
	tx := &fakeTx{readOnly: readOnly}
	tx.aside.Begin(&document.Trial{})
	return tx
}

func (tx *fakeTx) SideEffects() *document.SideEffects { return &tx.aside }

func (tx *fakeTx) Next(context.Context, string) (int64, error) {
	if tx.readOnly {
		return 0, document.ErrReadOnly
	}
	return 1, nil
}

func (tx *fakeTx) Savepoint(_ context.Context, fn func() error) error {
	tx.savepoints++
	err := fn()
	if err != nil {
		tx.undone++
	}
	return err
}

// fakePlugins serves methods by path, each pinned and counted.
type fakePlugins struct {
	methods map[string]*method.Method
	hidden  string
	held    int
}

func (p *fakePlugins) Pin(path string) (*method.Method, method.Pin, bool) {
	m := p.methods[path]
	if m == nil {
		return nil, nil, path == p.hidden
	}
	p.held++
	return m, &fakePin{p}, true
}

type fakePin struct{ p *fakePlugins }

func (p *fakePin) Release() { p.p.held-- }

type fn = func(context.Context, *method.Call) (any, error)

// newService makes a service of the given methods.
func newService(t *testing.T, st document.Store, methods ...*method.Method) *method.Service {
	t.Helper()
	for _, m := range methods {
		if m.Tier == 0 {
			m.Tier = method.Ordinary
		}
	}
	table, err := method.NewTable(method.Framework("1"), methods)
	if err != nil {
		t.Fatal(err)
	}
	return method.New(method.Config{Table: table, Store: st})
}

func user(scopes ...string) *identity.Caller {
	c := &identity.Caller{User: "u@example.com", Roles: []string{identity.All}}
	if scopes != nil {
		c.Scopes = []*scope.Set{scope.Token(scopes...)}
	}
	return c
}

func call(verb, path string) method.Invocation {
	return method.Invocation{Path: path, Verb: verb, Caller: user()}
}
