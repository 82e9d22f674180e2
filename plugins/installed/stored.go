package installed

import (
	"context"
	"errors"
	"maps"
	"slices"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
)

// load has the version serve that the record of a stored plugin names. One that does
// not load is tried again when the records change.
type load struct{ record *Record }

// unload takes a stored plugin out of service.
type unload struct {
	plugin, source string
	gone           bool // it is not only disabled
}

func planStored(w *world) (steps []step) {
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[name]
		if !r.Stored() || r.Status == Disabled || r.Hash == "" || w.refused[name] == r.Hash {
			continue
		}
		if src := w.from(r.Source); src != nil && src.installed != nil && src.installed.Hash == r.Hash {
			continue
		}
		steps = append(steps, load{r})
	}
	for _, src := range w.sources {
		if !src.stored() {
			continue
		}
		name := src.Source[len(storedPrefix):]
		if r := w.records[name]; r == nil || !r.Stored() || r.Status == Disabled {
			steps = append(steps, unload{name, src.Source, r == nil})
		}
	}
	return steps
}

func (st load) do(ctx context.Context, s *Site, sv dispatch.Services) error {
	r := st.record
	err := s.cfg.Own.LoadFrom(ctx, r.Source, func() (*bundle.Bundle, error) { return Bundle(ctx, sv, r.Name, r.Hash) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.refused[r.Name] = r.Hash
	}
	s.noteLoaded(ctx, sv, r, err)
	return nil
}

func (st unload) do(_ context.Context, s *Site, _ dispatch.Services) error {
	s.cfg.Own.Unload(st.source)
	if st.gone {
		s.forget(st.plugin)
	}
	return nil
}

// noteLoaded writes down why a stored plugin does not load, or that it does.
func (s *Site) noteLoaded(ctx context.Context, sv dispatch.Services, loaded *Record, failed error) {
	text := ""
	if failed != nil {
		text = loader.Reason(failed)
	}
	if s.cfg.Observer || loaded.Error == text {
		return
	}
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, loaded.Name)
		if err != nil || r == nil || r.Hash != loaded.Hash || r.Error == text {
			return err
		}
		r.Error = text
		return write(ctx, tx, sv.Documents, identity.Root(), r)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error("write down the state of a plugin", "plugin", loaded.Name, "error", err)
	}
}
