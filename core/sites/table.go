package sites

import (
	"strings"

	"armature/core/site"
	"armature/core/sites/registry"
)

// table is the sites there are and which of them answers what. It never changes.
type table struct {
	unknown bool     // the sites have not been read yet
	entries []*entry // by name
	byName  map[string]*entry
	byHost  map[string]*entry
	byApps  map[string]*entry // by the host below which those of its plugins are
	other   *entry            // answers the hosts nobody names; may be nil
}

// newTable takes the slice over, which is sorted by name. Of two sites that name
// the same host the first by name answers it; of those that name none the
// default site, or else the first by name, answers all other hosts. A site whose
// configuration cannot be read names none, and comes last there.
func newTable(entries []*entry) *table {
	t := &table{entries: entries, byName: map[string]*entry{}, byApps: map[string]*entry{}, byHost: map[string]*entry{}}
	for _, e := range entries {
		t.byName[e.name] = e
		r := e.record.Load()
		if apps := r.Config.AppsHost(); apps != "" && t.byApps[apps] == nil {
			t.byApps[apps] = e
		}
		hosts, broken := r.Config.Hosts(), r.Broken != nil
		if len(hosts) == 0 && (t.other == nil || t.other.record.Load().Broken != nil && !broken || e.name == site.Default && !broken) {
			t.other = e
		}
		for _, host := range hosts {
			if t.byHost[host] == nil {
				t.byHost[host] = e
			}
		}
	}
	return t
}

// records are those of the sites, by name.
func (t *table) records() []*registry.Record {
	list := make([]*registry.Record, len(t.entries))
	for i, e := range t.entries {
		list[i] = e.record.Load()
	}
	return list
}

// find returns the site that answers a host, in lower case and without its port;
// nil when none does. A name that a trusted proxy gives goes before the host.
func (t *table) find(host, name string) *entry {
	if name != "" {
		return t.byName[name]
	}
	if e := t.byHost[host]; e != nil {
		return e
	}
	if _, apps, ok := strings.Cut(strings.TrimSuffix(host, "."), "."); ok && t.byApps[apps] != nil {
		return t.byApps[apps]
	}
	return t.other
}
