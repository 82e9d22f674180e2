package installed

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// askAnew brings the record of a stored plugin into the language of rights that was
// written before there was one: by the servers of formats 1 and 2, which have stored
// plugins and were released. It is no numbered migration, since what a plugin asks for
// is known of its module once that is loaded, and migrations know no plugins. What such a plugin had without being asked it is
// asked for now: documents, methods and events of everybody's, which it keeps; and
// what is the platform's own, which waits for an approval, and the plugin with it.
type askAnew struct {
	plugin string
	g      *registry.Generation // that serves
}

// readAgain reads the records, which steps before it have written.
type readAgain struct{}

func planRights(w *world) (steps []step) {
	if w.observer {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		r := w.records[name]
		if src := w.from(r.Source); r.Stored() && src != nil && src.installed != nil && w.verdict.foreign(r, src.installed) {
			steps = append(steps, askAnew{name, src.installed})
		}
	}
	if len(steps) > 0 {
		steps = append(steps, readAgain{})
	}
	return steps
}

// foreign reports whether the record of what serves was not written in the language
// of rights: it lacks something that the version is asked for. While another version
// waits the record is about that one, and only its words tell.
func (rs *Records) foreign(r *Record, g *registry.Generation) bool {
	if r.Hash != g.Hash || r.PendingHash != "" && !slices.ContainsFunc(r.Asked, isImport) {
		return false
	}
	return slices.ContainsFunc(rs.asked(g), func(entry string) bool { return !slices.Contains(r.Asked, entry) })
}

func isImport(entry string) bool {
	_, is := manifest.Older(entry)
	return is
}

func (st askAnew) do(ctx context.Context, s *Site, sv dispatch.Services) error {
	err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		r, err := read(ctx, tx, sv.Documents, st.plugin)
		if err != nil || r == nil || !s.cfg.Records.foreign(r, st.g) {
			return err
		}
		r.askAnew(st.g, s.cfg.Records.asked(st.g))
		return write(ctx, tx, sv.Documents, identity.Root(), r)
	})
	if err != nil {
		return fmt.Errorf("ask a plugin of before for what it does: %s: %w", st.plugin, err)
	}
	return nil
}

func (readAgain) do(ctx context.Context, s *Site, sv dispatch.Services) error {
	return s.readRecords(ctx, sv)
}

// askAnew gives a record what its plugin had, as far as it is everybody's.
func (r *Record) askAnew(g *registry.Generation, asked []string) {
	for _, entry := range asked {
		if !slices.Contains(r.Asked, entry) && !grant.NeedsApproval(entry, true) {
			r.Approved = append(r.Approved, entry)
		}
	}
	r.Approved = slices.DeleteFunc(r.Approved, isImport)
	slices.Sort(r.Approved)
	r.Approved = slices.Compact(r.Approved)
	if r.PendingHash == "" {
		r.Asked, r.Optional = asked, grant.Optional(g.Manifest)
	} else {
		r.Asked = slices.DeleteFunc(r.Asked, isImport)
	}
}
