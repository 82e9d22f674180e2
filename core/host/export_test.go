package host

import "armature/core/httpapi"

// Edge is what the edge sees of the site.
func (t *Tenant) Edge() *httpapi.Site { return t.edge.Load() }
