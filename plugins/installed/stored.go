package installed

import (
	"context"
	"errors"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/bundle"
	"armature/plugins/dispatch"
	"armature/plugins/loader"
)

// loadStored loads and unloads what the records of stored plugins ask for. One
// that does not load is tried again when the records change.
func (s *Site) loadStored(ctx context.Context, sv dispatch.Services) {
	records := *s.records.Load()
	for name, r := range records {
		if !r.Stored() || r.Status == Disabled || r.Hash == "" || s.refused[name] == r.Hash {
			continue
		}
		if g := s.l.cfg.Registry.Generation(s.name, r.Source); g != nil && g.Hash == r.Hash {
			continue
		}
		err := s.l.cfg.Loader.LoadFrom(ctx, s.name, r.Source, func() (*bundle.Bundle, error) {
			return Bundle(ctx, sv, name, r.Hash)
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.refused[name] = r.Hash
		}
		s.note(ctx, sv, name, r.Hash, err)
	}
	for _, st := range s.l.cfg.Loader.States(s.name) {
		if !isStored(st.Source) || st.Scope != s.name {
			continue
		}
		name := st.Source[len(storedPrefix):]
		r := records[name]
		if r != nil && r.Stored() && r.Status != Disabled {
			continue
		}
		s.l.cfg.Loader.Unload(s.name, st.Source)
		if r == nil {
			s.forget(name)
		}
	}
}

// note writes down why a stored plugin does not load, or that it does.
func (s *Site) note(ctx context.Context, sv dispatch.Services, plugin, hash string, failed error) {
	text := ""
	if failed != nil {
		text = loader.Reason(failed)
	}
	if s.l.cfg.Observer || s.record(plugin).Error == text {
		return
	}
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, plugin)
		if err != nil || r == nil || r.Hash != hash || r.Error == text {
			return err
		}
		r.Error = text
		return write(ctx, tx, sv.Documents, identity.Root(), r)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error("write down the state of a plugin", "plugin", plugin, "error", err)
	}
}

// forget drops what a plugin kept that is gone.
func (s *Site) forget(plugin string) {
	s.l.cfg.Forget(s.name, plugin)
	delete(s.shipped, plugin)
	for _, st := range s.l.cfg.Loader.All() {
		if st.Name == plugin {
			return // another site has it still
		}
	}
	s.l.cfg.Meter.Forget(plugin)
}
