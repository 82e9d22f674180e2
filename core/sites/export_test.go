package sites

import (
	"context"

	"armature/core/httpapi"
)

// Edge is what the edge sees of the site.
func (t *Tenant) Edge() *httpapi.Site { return t.edge.Load() }

// BackupRounds makes what KeepBackups runs again and again, to be run by hand.
func (s *Set) BackupRounds() func(context.Context) { return newBackups(s).round }
