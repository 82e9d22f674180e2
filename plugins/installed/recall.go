package installed

import (
	"context"
	"fmt"

	"armature/plugins/loader"
	"armature/plugins/registry"
)

// recalls reports whether a version in a folder has to wait for an older one to be
// brought back. That one served the site when its record was written, the file
// has been replaced since by one that asks for more than was approved, and this
// process, which started later, has never loaded the older one.
func (s *Site) recalls(r *Record, g *registry.Generation) bool {
	if r == nil || r.Source != g.Source || r.Hash == "" || r.Hash == g.Hash {
		return false
	}
	if _, lost := s.lost.Load(r.Hash); lost || len(s.l.Grants(s.name, g).Missing) == 0 {
		return false
	}
	return s.l.copies.has(r.Hash)
}

// recall brings such older versions back from their copies. Whether they serve is
// then decided as if they had been replaced just now. One that cannot be loaded
// is given up.
func (s *Site) recall(ctx context.Context) {
	for name, r := range *s.records.Load() {
		if r.Stored() || r.Status == Disabled || s.l.cfg.Registry.Serving(s.name)[name] != nil {
			continue
		}
		if g := s.installed(r.Source); g == nil || g.Manifest.Name != name || !s.recalls(r, g) {
			continue
		}
		old, err := s.copied(ctx, r)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Error("the version that served cannot be loaded again", "plugin", name, "version", r.Version, "error", err)
			s.lost.Store(r.Hash, true)
			s.l.cfg.Registry.Reconsider(s.name)
			continue
		}
		s.l.cfg.Registry.Recall(s.name, old)
	}
}

// restore has the copy of what served by a record serve again where the file in the
// folder cannot be loaded, as it would have gone on doing without a restart.
func (s *Site) restore(ctx context.Context) {
	for _, st := range s.l.cfg.Loader.States(s.name) {
		if st.Status != loader.Failed || isStored(st.Source) {
			continue
		}
		r := s.servedFrom(st.Source)
		if r == nil || st.Name != "" && st.Name != r.Name {
			continue
		}
		if _, lost := s.lost.Load(r.Hash); lost || !s.l.copies.has(r.Hash) {
			continue
		}
		b, err := s.l.copies.read(r.Hash)
		if err == nil {
			err = s.l.cfg.Loader.Restore(ctx, st.Scope, st.Source, b)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Error("the version that served cannot be loaded again", "plugin", r.Name, "version", r.Version, "error", err)
			s.lost.Store(r.Hash, true)
		}
	}
}

// servedFrom is the record of the plugin that served from a source, or nil.
func (s *Site) servedFrom(source string) *Record {
	for _, r := range *s.records.Load() {
		if r.Source == source && r.Status != Disabled && r.Hash != "" {
			return r
		}
	}
	return nil
}

// installed is the generation of a source in a folder, or nil.
func (s *Site) installed(source string) *registry.Generation {
	if g := s.l.cfg.Registry.Generation(s.name, source); g != nil {
		return g
	}
	return s.l.cfg.Registry.Generation(registry.Shared, source)
}

// copied makes a generation of the copy of what served by a record.
func (s *Site) copied(ctx context.Context, r *Record) (*registry.Generation, error) {
	b, err := s.l.copies.read(r.Hash)
	if err != nil {
		return nil, err
	}
	if b.Manifest.Name != r.Name {
		return nil, fmt.Errorf("the copy is of %s", b.Manifest.Name)
	}
	return s.l.cfg.Loader.Check(ctx, r.Source, b)
}
