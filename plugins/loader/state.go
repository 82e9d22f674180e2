package loader

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"armature/core/fault"
	"armature/plugins/bundle"
	"armature/plugins/registry"
)

// Status says whether a source serves.
type Status string

// The statuses.
const (
	Serving Status = "serving" // with an Error: an older version than the one installed
	Failed  Status = "failed"  // nothing serves from this source
)

// State is what is known about one source.
type State struct {
	Scope    string    `json:"site"` // registry.Shared: every site
	Source   string    `json:"source"`
	Status   Status    `json:"status"`
	Name     string    `json:"name,omitempty"`
	Version  string    `json:"version,omitempty"`
	Hash     string    `json:"hash,omitempty"`
	Methods  []string  `json:"methods,omitempty"`
	Grants   []string  `json:"grants,omitempty"`
	Pristine bool      `json:"pristine"`         // calls start from a snapshot in a reused instance
	Reason   string    `json:"reason,omitempty"` // why not
	LoadedAt time.Time `json:"loaded_at,omitzero"`
	Error    string    `json:"error,omitempty"` // why the latest load failed
}

// record is the state of a source. loading is held by whoever loads it; state is
// guarded by Loader.mu.
type record struct {
	loading sync.Mutex
	state   State
}

// States lists every source that serves a site: the shared ones and its own.
func (l *Loader) States(site string) []State {
	return l.list(func(s State) bool { return s.Scope == registry.Shared || s.Scope == site })
}

// All lists every source of every scope.
func (l *Loader) All() []State { return l.list(func(State) bool { return true }) }

func (l *Loader) list(want func(State) bool) []State {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []State
	for _, r := range l.records {
		if r.state.Status != "" && want(r.state) {
			all = append(all, r.state)
		}
	}
	slices.SortFunc(all, func(a, b State) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Scope, b.Scope), strings.Compare(a.Source, b.Source))
	})
	return all
}

func (l *Loader) record(p place) *record {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.records[p]
	if r == nil {
		r = &record{state: State{Scope: p.scope, Source: p.source}}
		l.records[p] = r
	}
	return r
}

// served records a generation that serves.
func (l *Loader) served(r *record, g *registry.Generation) {
	s := State{
		Scope: r.state.Scope, Source: r.state.Source, Status: Serving,
		Name: g.Manifest.Name, Version: g.Manifest.Version, Hash: g.Hash,
		Grants: g.Manifest.Grants, LoadedAt: g.LoadedAt,
	}
	s.Pristine, s.Reason = g.Module.Pristine()
	for _, m := range g.Manifest.Methods {
		s.Methods = append(s.Methods, m.Path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.state = s
}

// Reason is why a plugin does not load, for its author: of what is wrong with it
// the message, which says all there is to say, without how that was found.
func Reason(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Validation && f.Message != "" {
		return f.Message
	}
	return err.Error()
}

// failed records and logs why a load failed, and returns it. b is nil when not
// even the manifest could be read.
func (l *Loader) failed(r *record, b *bundle.Bundle, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &r.state
	s.Error = Reason(err)
	attrs := []any{"source", s.Source, "error", s.Error}
	if b != nil {
		attrs = append(attrs, "plugin", b.Manifest.Name, "version", b.Manifest.Version)
	}
	if s.Status == Serving {
		l.log.Error("plugin not loaded, the old version goes on serving", append(attrs, "serving", s.Version)...)
		return err
	}
	s.Status = Failed
	if b != nil {
		s.Name, s.Version, s.Hash = b.Manifest.Name, b.Manifest.Version, b.Hash
	}
	l.log.Error("plugin not loaded", attrs...)
	return err
}
