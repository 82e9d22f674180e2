package installed

import (
	"slices"

	"armature/core/fault"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/publisher"
	"armature/plugins/registry"
)

// Grants is what a generation may do on a site; for dispatch.Config.
func (l *Ledger) Grants(site string, g *registry.Generation) grant.Given {
	given := l.decided(site, g).Give(g.Manifest, l.asked(site, g))
	if l.trusts(site, g) != nil {
		given.Missing = append(given.Missing, "a signature of a publisher whom this site trusts")
	}
	return given
}

// asked lists what a generation asks for on a site, with what it is asked because
// of the version that it replaces. What is stored is loaded only once that is
// settled.
func (l *Ledger) asked(site string, g *registry.Generation) []string {
	asked := dispatch.Asked(g, l.cfg.FolderLimits)
	if isStored(g.Source) {
		return asked
	}
	return append(asked, l.site(site).record(g.Manifest.Name).moved(g)...)
}

// moved is what a generation is asked because of the version that is to serve.
func (r *Record) moved(g *registry.Generation) []string {
	from, ok := r.release()
	if !ok || r.Hash == g.Hash {
		return nil
	}
	return grant.Moved(from, grant.Release{Version: g.Manifest.Version, Publisher: g.Publisher})
}

// trusts returns the error with which a generation is refused that nobody has
// signed whom the server and the site name, where they do.
func (l *Ledger) trusts(site string, g *registry.Generation) error {
	for _, keys := range l.cfg.Publishers(site) {
		switch {
		case len(keys) == 0 || slices.Contains(keys, g.Publisher):
		case g.Publisher == publisher.Nobody || g.Publisher == "":
			return fault.Denied("The plugin %s is not signed, and only plugins of named publishers are taken here (plugin_publishers)", g.Manifest.Name)
		default:
			return fault.Denied("The plugin %s is signed with the key %s, which is none of the publishers' that are named here (plugin_publishers)", g.Manifest.Name, g.Publisher)
		}
	}
	return nil
}

func (l *Ledger) decided(site string, g *registry.Generation) grant.Decided {
	d := grant.Decided{Operator: !isStored(g.Source)}
	if r := l.site(site).record(g.Manifest.Name); r != nil {
		d.Approved, d.Revoked = r.Approved, r.Revoked
	}
	return d
}

// Decide says whether a generation serves a site; for dispatch.Config. One that
// needs what nobody has approved waits, while an older one serves. Where it has
// served before, because something was taken from it, it does so for what must not
// happen without it (dispatch refuses that). Before the records were read once
// nothing serves: it might be disabled.
func (l *Ledger) Decide(site string, g, old *registry.Generation) registry.Decision {
	s := l.site(site)
	if s == nil || s.records.Load() == nil {
		return registry.Off
	}
	r := s.record(g.Manifest.Name)
	switch {
	case r != nil && r.Status == Disabled:
		return registry.Off
	case len(l.Grants(site, g).Missing) == 0:
		return registry.Serve
	case old != nil && old.Hash != g.Hash:
		return registry.Keep
	case s.recalls(r, g):
		return registry.Await
	case r != nil && r.Hash != "" && r.Source == g.Source:
		return registry.Serve
	}
	return registry.Off
}
