package registry

import "armature/core/apps/app"

// App is the pages of a plugin, whose version is held until they are released; nil: it
// serves none.
func (s *Site) App(plugin string) *app.App {
	for {
		b := s.table.Load().apps[plugin]
		if b == nil {
			return nil
		}
		if b.Generation.Pin() {
			return b.app
		}
		// Retired between the two reads: a newer table has been published.
	}
}

// Apps lists the plugins that have pages now, and whether theirs are the site's own.
func (s *Site) Apps() map[string]bool {
	apps := s.table.Load().apps
	all := make(map[string]bool, len(apps))
	for plugin, b := range apps {
		all[plugin] = b.app.SameOrigin
	}
	return all
}
