package installed

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/dispatch"
	"armature/plugins/doctypes"
	"armature/plugins/grant"
	"armature/plugins/loader"
	"armature/plugins/registry"
)

// tell writes down what has become of the plugins in folders, when it is
// something else than this process has written last: two servers with different
// folders must not answer each other for ever.
func (s *Site) tell(ctx context.Context, sv dispatch.Services) error {
	s.logRejected()
	present := map[string]bool{}
	for _, st := range s.l.cfg.Loader.States(s.name) {
		if st.Name == "" || isStored(st.Source) {
			continue
		}
		if r := s.record(st.Name); r != nil && r.Source != st.Source && s.serves(r) {
			continue // two sources claim the name, and this one was refused
		}
		present[st.Name] = true
		if err := s.tellOne(ctx, sv, st); err != nil {
			return err
		}
	}
	return s.removeAbsent(ctx, sv, present)
}

// serves reports whether the source of a record serves the site.
func (s *Site) serves(r *Record) bool {
	g := s.l.cfg.Registry.Serving(s.name)[r.Name]
	return g != nil && g.Source == r.Source
}

func (s *Site) tellOne(ctx context.Context, sv dispatch.Services, st loader.State) error {
	installed := s.l.cfg.Registry.Generation(st.Scope, st.Source)
	serving := s.l.cfg.Registry.Serving(s.name)[st.Name]
	now := Record{Name: st.Name, Source: st.Source, Error: st.Error, Version: st.Version, Hash: st.Hash}
	if installed != nil {
		now.Asked, now.Optional, now.Methods = s.l.asked(s.name, installed), grant.Optional(installed.Manifest), methods(installed)
		now.Publisher = installed.Publisher
		if refused := s.l.trusts(s.name, installed); refused != nil {
			now.Error = refused.Error()
		}
		switch {
		case serving != nil && serving.Hash != installed.Hash:
			now.Version, now.Hash, now.Publisher = serving.Manifest.Version, serving.Hash, serving.Publisher
			now.PendingVersion, now.PendingHash, now.PendingPublisher = installed.Manifest.Version, installed.Hash, installed.Publisher
		case serving == nil && s.waits(st.Name, installed):
			now.Version, now.Hash, now.Publisher = "", "", ""
			now.PendingVersion, now.PendingHash, now.PendingPublisher = installed.Manifest.Version, installed.Hash, installed.Publisher
		}
	}
	if err := s.ship(ctx, sv, serving); err != nil {
		now.Error = err.Error()
	}
	if !s.l.cfg.Observer && serving != nil && serving.Source == st.Source {
		if err := s.l.copies.keep(serving.Hash, st.Source); err != nil {
			s.log.Warn("keep a copy of a plugin that serves", "plugin", st.Name, "version", serving.Manifest.Version, "error", err)
		}
	}
	if last, ok := s.told[st.Name]; ok && reflect.DeepEqual(last, now) || s.l.cfg.Observer {
		return nil
	}
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		old, err := read(ctx, tx, sv.Documents, st.Name)
		if err != nil {
			return err
		}
		next := now
		if old != nil {
			next.Status, next.Approved, next.Revoked, next.RunAs = old.Status, old.Approved, old.Revoked, old.RunAs
			if old.Status == Removed {
				next.Status = Active // or what follows from the rest
			}
			if old.Status == Disabled && old.PendingHash != "" && old.PendingHash == next.Hash {
				// What waited before goes on waiting when the plugin is enabled.
				next.Version, next.Hash, next.Publisher = old.Version, old.Hash, old.Publisher
				next.PendingVersion, next.PendingHash, next.PendingPublisher = old.PendingVersion, old.PendingHash, old.PendingPublisher
			}
			if installed == nil {
				next.Asked, next.Optional, next.Methods, next.Publisher = old.Asked, old.Optional, old.Methods, old.Publisher
			}
		}
		if next.settle(); old != nil && reflect.DeepEqual(old.values(), next.values()) {
			return nil
		}
		return write(ctx, tx, sv.Documents, identity.Root(), &next)
	})
	if err != nil {
		return fmt.Errorf("write down the state of %s: %w", st.Name, err)
	}
	s.told[st.Name] = now
	return nil
}

// waits reports whether a version in a folder needs what nobody has approved, and
// is not taken off by somebody.
func (s *Site) waits(plugin string, g *registry.Generation) bool {
	r := s.record(plugin)
	return (r == nil || r.Status != Disabled) && len(s.l.Grants(s.name, g).Missing) > 0
}

// ship installs the DocTypes of what serves, once per version.
func (s *Site) ship(ctx context.Context, sv dispatch.Services, g *registry.Generation) error {
	if g == nil || len(g.Manifest.DocTypes) == 0 || s.shipped[g.Manifest.Name] == g.Hash || s.l.cfg.Observer {
		return nil
	}
	all, err := doctypes.Parse(g.Manifest)
	if err == nil {
		_, err = doctypes.Apply(ctx, sv.Store, sv.Documents, identity.Root(), all)
	}
	if err != nil {
		return fmt.Errorf("install the DocTypes of %s: %w", g.Manifest.Name, err)
	}
	s.shipped[g.Manifest.Name] = g.Hash
	return nil
}

// removeAbsent removes the records of plugins that are in no folder any more:
// those this process has seen there, and at its start those of its own folders.
func (s *Site) removeAbsent(ctx context.Context, sv dispatch.Services, present map[string]bool) error {
	if s.l.cfg.Observer {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(*s.records.Load())) {
		r := (*s.records.Load())[name]
		_, seen := s.told[name]
		if present[name] || r.Stored() || r.Status == Removed || !seen && !s.ours(r.Source) {
			continue
		}
		err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
			r, err := read(ctx, tx, sv.Documents, name)
			if err != nil || r == nil || r.Stored() || r.Status == Removed {
				return err
			}
			// Its approvals wait for it to come back.
			r.Status, r.Error = Removed, ""
			return write(ctx, tx, sv.Documents, identity.Root(), r)
		})
		if err != nil {
			return fmt.Errorf("remove the record of %s: %w", name, err)
		}
		delete(s.told, name)
		s.forget(name)
	}
	return nil
}

// ours reports whether a source lies in a folder that this process follows.
func (s *Site) ours(source string) bool {
	return slices.ContainsFunc(s.l.cfg.Folders(s.name), func(dir string) bool {
		return strings.HasPrefix(source, filepath.Clean(dir)+string(filepath.Separator))
	})
}
