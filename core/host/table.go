package host

import (
	"slices"
	"strings"

	"armature/core/site"
)

// table is the open sites and which of them answers what. It never changes.
type table struct {
	tenants []*Tenant // by name
	byName  map[string]*Tenant
	byHost  map[string]*Tenant
	other   *Tenant // answers the hosts nobody names; may be nil
}

// newTable takes the slice over. Of two sites that name the same host the first
// by name answers it; of those that name none the default site, or else the
// first by name, answers all other hosts.
func newTable(tenants []*Tenant) *table {
	slices.SortFunc(tenants, func(a, b *Tenant) int { return strings.Compare(a.Site.Name, b.Site.Name) })
	t := &table{tenants: tenants, byName: map[string]*Tenant{}, byHost: map[string]*Tenant{}}
	for _, tenant := range tenants {
		t.byName[tenant.Site.Name] = tenant
		hosts := tenant.Site.Config().Hosts()
		if len(hosts) == 0 && (t.other == nil || tenant.Site.Name == site.Default) {
			t.other = tenant
		}
		for _, host := range hosts {
			if t.byHost[host] == nil {
				t.byHost[host] = tenant
			}
		}
	}
	return t
}

// find returns the tenant that answers a host, in lower case and without its
// port; nil when none does.
func (t *table) find(host string) *Tenant {
	if tenant := t.byHost[host]; tenant != nil {
		return tenant
	}
	return t.other
}
