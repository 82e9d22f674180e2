package installed

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/dispatch"
	"armature/plugins/doctypes"
	"armature/plugins/grant"
	"armature/plugins/loader"
	"armature/plugins/registry"
)

// report writes down what has become of a plugin in a folder, once what serves has its
// DocTypes and a copy. It does so when that is something else than this process has
// written last: two servers with different folders must not answer each other for ever.
type report struct {
	now     Record
	readOf  bool                 // now says what the version in the folder asks for
	serving *registry.Generation // of the plugin; nil: nothing
}

// logRejected writes what is wrong with the plugins in folders into their logs, once,
// where their authors look for it.
type logRejected []source

// planReports goes through the folders.
func planReports(w *world) []step {
	if w.observer {
		return nil
	}
	var rejected logRejected
	var reports []step
	for _, src := range w.sources {
		if src.stored() {
			continue
		}
		if src.Error != "" {
			rejected = append(rejected, src)
		}
		if w.inFolder(src) && w.speaksFor(src) {
			reports = append(reports, w.report(src))
		}
	}
	return append([]step{rejected}, reports...)
}

// inFolder reports whether a source is a plugin in a folder of which there is a record,
// or will be. Where two sources claim a name, the one that does not serve was refused.
func (w *world) inFolder(src source) bool {
	if src.Name == "" || src.stored() {
		return false
	}
	r := w.records[src.Name]
	return r == nil || r.Source == src.Source || !w.serves(r)
}

// speaksFor reports whether a source is the one of its name that the record is about:
// what serves; else the one it was about before; else the first that could be loaded;
// else the first. Were it about each in turn, every look would find it changed.
func (w *world) speaksFor(src source) bool {
	var all []source
	for _, other := range w.sources {
		if other.Name == src.Name && w.inFolder(other) {
			all = append(all, other)
		}
	}
	r := w.records[src.Name]
	for _, speaks := range []func(source) bool{
		func(s source) bool { g := w.serving[s.Name]; return g != nil && g.Source == s.Source },
		func(s source) bool { return r != nil && r.Source == s.Source },
		func(s source) bool { return s.installed != nil },
	} {
		if i := slices.IndexFunc(all, speaks); i >= 0 {
			return all[i].Source == src.Source
		}
	}
	return all[0].Source == src.Source
}

// report is the record of a plugin in a folder as this process would write it.
func (w *world) report(src source) report {
	st := report{
		now:     Record{Name: src.Name, Source: src.Source, Error: src.Error, Version: src.Version, Hash: src.Hash},
		serving: w.serving[src.Name],
	}
	g := src.installed
	if g == nil {
		return st
	}
	st.readOf = true
	now := &st.now
	now.Asked, now.Optional, now.Methods, now.Publisher = w.verdict.asked(g), grant.Optional(g.Manifest), methods(g), g.Publisher
	if refused := w.verdict.trusts(g); refused != nil {
		now.Error = refused.Error()
	}
	older := st.serving != nil && st.serving.Hash != g.Hash
	switch {
	case older:
		now.Version, now.Hash, now.Publisher = st.serving.Manifest.Version, st.serving.Hash, st.serving.Publisher
	case st.serving == nil && w.waits(g):
		now.Version, now.Hash, now.Publisher = "", "", ""
	default:
		return st
	}
	now.PendingVersion, now.PendingHash, now.PendingPublisher = g.Manifest.Version, g.Hash, g.Publisher
	return st
}

// waits reports whether a version in a folder needs what nobody has approved, and
// is not taken off by somebody.
func (w *world) waits(g *registry.Generation) bool {
	r := w.records[g.Manifest.Name]
	return (r == nil || r.Status != Disabled) && w.verdict.waits(g)
}

func (st logRejected) do(_ context.Context, s *Site, _ dispatch.Services) error {
	if s.cfg.Logs == nil {
		return nil
	}
	now := map[string]string{}
	for _, src := range st {
		now[src.Source] = src.Error
		if s.rejected[src.Source] == src.Error {
			continue
		}
		attrs := []any{"source", src.Source, "error", src.Error}
		if src.Status == loader.Serving {
			attrs = append(attrs, "serving", src.Version)
		}
		s.cfg.Logs.Logger(nameOf(src.State), nil).Error("plugin not loaded", attrs...)
	}
	s.rejected = now
	return nil
}

func (st report) do(ctx context.Context, s *Site, sv dispatch.Services) error {
	if err := s.bringDocTypes(ctx, sv, st.serving); err != nil {
		st.now.Error = err.Error()
	}
	s.keepCopy(st)
	if last, ok := s.reported[st.now.Name]; ok && reflect.DeepEqual(last, st.now) {
		return nil
	}
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		old, err := read(ctx, tx, sv.Documents, st.now.Name)
		if err != nil {
			return err
		}
		next := st.after(old)
		if next.settle(); old != nil && reflect.DeepEqual(old.values(), next.values()) {
			return nil
		}
		return write(ctx, tx, sv.Documents, identity.Root(), &next)
	})
	if err != nil {
		return fmt.Errorf("write down the state of %s: %w", st.now.Name, err)
	}
	s.reported[st.now.Name] = st.now
	return nil
}

// bringDocTypes installs the DocTypes of what serves, once per version.
func (s *Site) bringDocTypes(ctx context.Context, sv dispatch.Services, g *registry.Generation) error {
	if g == nil || len(g.Manifest.DocTypes) == 0 || s.brought[g.Manifest.Name] == g.Hash {
		return nil
	}
	all, err := doctypes.Parse(g.Manifest)
	if err == nil {
		_, err = doctypes.Apply(ctx, sv.Store, sv.Documents, identity.Root(), all)
	}
	if err != nil {
		return fmt.Errorf("install the DocTypes of %s: %w", g.Manifest.Name, err)
	}
	s.brought[g.Manifest.Name] = g.Hash
	return nil
}

// keepCopy copies what serves from the source that is reported of.
func (s *Site) keepCopy(st report) {
	g := st.serving
	if g == nil || g.Source != st.now.Source {
		return
	}
	if err := s.cfg.Records.rules.Bundles.keep(g.Hash, g.Source); err != nil {
		s.log.Warn("keep a copy of a plugin that serves", "plugin", st.now.Name, "version", g.Manifest.Version, "error", err)
	}
}

// after is what is reported with what people have decided, as the record has it.
func (st report) after(old *Record) Record {
	next := st.now
	if old == nil {
		return next
	}
	next.Status, next.Approved, next.Revoked, next.RunAs = old.Status, old.Approved, old.Revoked, old.RunAs
	if old.Status == Removed {
		next.Status = Active // or what follows from the rest
	}
	if old.Status == Disabled && old.PendingHash != "" && old.PendingHash == next.Hash {
		// What waited before goes on waiting when the plugin is enabled.
		next.Version, next.Hash, next.Publisher = old.Version, old.Hash, old.Publisher
		next.PendingVersion, next.PendingHash, next.PendingPublisher = old.PendingVersion, old.PendingHash, old.PendingPublisher
	}
	if !st.readOf {
		next.Asked, next.Optional, next.Methods, next.Publisher = old.Asked, old.Optional, old.Methods, old.Publisher
	}
	return next
}

// removal takes the record of a plugin out of sight that is in no folder any more.
type removal struct{ plugin string }

// planRemovals finds the records of plugins that this process has seen in folders, and
// at its start of those in its own folders.
func planRemovals(w *world) (steps []step) {
	if w.observer {
		return nil
	}
	present := map[string]bool{}
	for _, src := range w.sources {
		if w.inFolder(src) {
			present[src.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[name]
		_, seen := w.reported[name]
		if !present[name] && !r.Stored() && r.Status != Removed && (seen || ours(w.folders, r.Source)) {
			steps = append(steps, removal{name})
		}
	}
	return steps
}

func (st removal) do(ctx context.Context, s *Site, sv dispatch.Services) error {
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, st.plugin)
		if err != nil || r == nil || r.Stored() || r.Status == Removed {
			return err
		}
		// Its approvals wait for it to come back.
		r.Status, r.Error = Removed, ""
		return write(ctx, tx, sv.Documents, identity.Root(), r)
	})
	if err != nil {
		return fmt.Errorf("remove the record of %s: %w", st.plugin, err)
	}
	delete(s.reported, st.plugin)
	s.forget(st.plugin)
	return nil
}
