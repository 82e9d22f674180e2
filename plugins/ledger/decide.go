package ledger

import (
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/registry"
)

// Grants is what a generation may do on a site; for dispatch.Config.
func (l *Ledger) Grants(site string, g *registry.Generation) grant.Given {
	return grant.Give(g.Manifest, dispatch.Asked(g), l.approved(site, g), !isStored(g.Source))
}

func (l *Ledger) approved(site string, g *registry.Generation) []string {
	if r := l.site(site).record(g.Manifest.Name); r != nil {
		return r.Approved
	}
	return nil
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
