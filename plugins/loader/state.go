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
// guarded by Sources.mu.
type record struct {
	loading sync.Mutex
	state   State
}

// States lists every source by the name of its plugin.
func (s *Sources) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []State
	for _, r := range s.records {
		if r.state.Status != "" {
			all = append(all, r.state)
		}
	}
	slices.SortFunc(all, State.Compare)
	return all
}

// Compare is the order of States.
func (a State) Compare(b State) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Source, b.Source))
}

func (s *Sources) record(source string) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[source]
	if r == nil {
		r = &record{state: State{Source: source}}
		s.records[source] = r
	}
	return r
}

// served records a generation that serves.
func (s *Sources) served(r *record, g *registry.Generation) {
	now := State{
		Source: r.state.Source, Status: Serving,
		Name: g.Manifest.Name, Version: g.Manifest.Version, Hash: g.Hash,
		Grants: g.Manifest.Grants, LoadedAt: g.LoadedAt,
	}
	now.Pristine, now.Reason = g.Module.Pristine()
	for _, m := range g.Manifest.Methods {
		now.Methods = append(now.Methods, m.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state = now
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
func (s *Sources) failed(r *record, b *bundle.Bundle, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &r.state
	now.Error = Reason(err)
	attrs := []any{"source", now.Source, "error", now.Error}
	if b != nil {
		attrs = append(attrs, "plugin", b.Manifest.Name, "version", b.Manifest.Version)
	}
	if now.Status == Serving {
		s.l.log.Error("plugin not loaded, the old version goes on serving", append(attrs, "serving", now.Version)...)
		return err
	}
	now.Status = Failed
	if b != nil {
		now.Name, now.Version, now.Hash = b.Manifest.Name, b.Manifest.Version, b.Hash
	}
	s.l.log.Error("plugin not loaded", attrs...)
	return err
}
