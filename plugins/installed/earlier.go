package installed

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
	"armature/plugins/registry"
)

// restore has the copy of what served by a record serve again where the file in the
// folder cannot be loaded, as it would have gone on doing without a restart.
type restore struct {
	record *Record
	source source
}

func planRestores(w *world) (steps []step) {
	for _, src := range w.sources {
		if src.Status != loader.Failed || src.stored() {
			continue
		}
		if r := w.servedFrom(src); r != nil {
			steps = append(steps, restore{r, src})
		}
	}
	return steps
}

// servedFrom is the record of the plugin that served from a source and of which there
// is a copy, or nil. A plugin that is out of sight did not serve: the file there
// was another's since. Where two were there in turn, and nobody looked in between, it
// is the first by name, each time.
func (w *world) servedFrom(src source) *Record {
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[name]
		switch {
		case r.Source != src.Source || src.Name != "" && src.Name != name:
		case r.Status == Disabled || r.Status == Removed:
		case r.Hash != "" && w.verdict.copied(r):
			return r
		}
	}
	return nil
}

func (st restore) do(ctx context.Context, s *Site, _ dispatch.Services) error {
	b, err := s.copyOf(st.record)
	if err == nil {
		err = st.source.in.Restore(ctx, st.source.Source, b)
	}
	return s.giveUp(ctx, st.record, err)
}

// recall brings the version that served before this process started back from its copy,
// where the one in the folder has to wait. Whether it serves is then decided as if it
// had been replaced just now.
type recall struct{ record *Record }

func planRecalls(w *world) (steps []step) {
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[name]
		if r.Stored() || r.Status == Disabled || w.serving[name] != nil {
			continue
		}
		src := w.from(r.Source)
		if src == nil || src.installed == nil || src.installed.Manifest.Name != name || !w.verdict.recalls(r, src.installed) {
			continue
		}
		steps = append(steps, recall{r})
	}
	return steps
}

func (st recall) do(ctx context.Context, s *Site, _ dispatch.Services) error {
	var old *registry.Generation
	b, err := s.copyOf(st.record)
	if err == nil && b.Manifest.Name != st.record.Name {
		err = fmt.Errorf("the copy is of %s", b.Manifest.Name)
	}
	if err == nil {
		old, err = s.cfg.Own.Check(ctx, st.record.Source, b)
	}
	if err == nil {
		s.cfg.Table.Recall(old)
		return nil
	}
	defer s.cfg.Table.Reconsider() // nothing has to wait for it any more
	return s.giveUp(ctx, st.record, err)
}

func (s *Site) copyOf(r *Record) (*bundle.Bundle, error) {
	return s.cfg.Records.rules.Bundles.read(r.Hash)
}

// giveUp ends the loading of a copy, with err. One that cannot be loaded is given up, and
// what comes next goes on without it.
func (s *Site) giveUp(ctx context.Context, r *Record, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	s.log.Error("the version that served cannot be loaded again", "plugin", r.Name, "version", r.Version, "error", err)
	s.cfg.Records.damaged.Store(r.Hash, true)
	return nil
}
