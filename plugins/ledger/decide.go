package ledger

import (
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/registry"
)

// Grants is what a generation may do on a site; for dispatch.Config.
func (l *Ledger) Grants(site string, g *registry.Generation) grant.Given {
	var approved []string
	if r := l.site(site).record(g.Manifest.Name); r != nil {
		approved = r.Approved
	}
	return grant.Give(dispatch.Asked(g), approved)
}

// Decide says whether a generation serves a site; for dispatch.Config. One that
// asks for more than the old one and has not been approved waits while that
// serves. Of a stored plugin only what is to serve is ever loaded. Before the
// records were read once nothing serves: it might be disabled.
func (l *Ledger) Decide(site string, g, old *registry.Generation) registry.Decision {
	s := l.site(site)
	if s == nil || s.records.Load() == nil {
		return registry.Off
	}
	r := s.record(g.Manifest.Name)
	switch {
	case r != nil && r.Status == Disabled:
		return registry.Off
	case old == nil && s.recalls(r, g):
		return registry.Await
	case old == nil || isStored(g.Source):
		return registry.Serve
	}
	var approved []string
	if r != nil {
		approved = r.Approved
	}
	if len(grown(dispatch.Asked(g), dispatch.Asked(old), approved)) > 0 {
		return registry.Keep
	}
	return registry.Serve
}

// grown is what a version asks for that waits for approval and that the one
// before did not ask for.
func grown(asked, before, approved []string) []string {
	return grant.Waiting(asked, append(approved[:len(approved):len(approved)], before...))
}
