package installed

import (
	"context"
	"errors"
	"slices"

	"armature/core/document"
	"armature/core/identity"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/plugins/registry"
)

// adopt brings the records of stored plugins into the language of rights that were
// written before there was one. What such a plugin had without being asked it is
// asked for now: documents, methods and events of everybody's, which it keeps; and
// what is the platform's own, which waits for an approval, and the plugin with it.
func (s *Site) adopt(ctx context.Context, sv dispatch.Services) error {
	if s.l.cfg.Observer {
		return nil
	}
	adopted := false
	for name, r := range *s.records.Load() {
		g := s.l.cfg.Registry.Generation(s.name, r.Source)
		if !r.Stored() || g == nil || !s.foreign(r, g) {
			continue
		}
		err := sv.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
			r, err := read(ctx, tx, sv.Documents, name)
			if err != nil || r == nil || !s.foreign(r, g) {
				return err
			}
			r.adopt(g, s.l.asked(s.name, g))
			adopted = true
			return write(ctx, tx, sv.Documents, identity.Root(), r)
		})
		if err != nil {
			return errors.Join(errors.New("ask a plugin of before for what it does: "+name), err)
		}
	}
	if !adopted {
		return nil
	}
	return s.look(ctx, sv.Store, sv.Documents)
}

// foreign reports whether the record of what serves was not written in the language
// of rights: it lacks something that the version is asked for. While another version
// waits the record is about that one, and only its words tell.
func (s *Site) foreign(r *Record, g *registry.Generation) bool {
	if r.Hash != g.Hash || r.PendingHash != "" && !slices.ContainsFunc(r.Asked, isImport) {
		return false
	}
	return slices.ContainsFunc(s.l.asked(s.name, g), func(entry string) bool { return !slices.Contains(r.Asked, entry) })
}

func isImport(entry string) bool {
	_, is := manifest.Older(entry)
	return is
}

// adopt gives a record what its plugin had, as far as it is everybody's.
func (r *Record) adopt(g *registry.Generation, asked []string) {
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
