package sites

import (
	"armature/core/site"
)

// table is the sites there are and which of them answers what. It never changes.
type table struct {
	unknown bool     // the sites have not been read yet
	entries []*entry // by name
	byName  map[string]*entry
	byHost  map[string]*entry
	other   *entry // answers the hosts nobody names; may be nil
}

// newTable takes the slice over, which is sorted by name. Of two sites that name
// the same host the first by name answers it; of those that name none the
// default site, or else the first by name, answers all other hosts. A site whose
// configuration cannot be read names none, and comes last there.
func newTable(entries []*entry) *table {
	t := &table{entries: entries, byName: map[string]*entry{}, byHost: map[string]*entry{}}
	for _, e := range entries {
		t.byName[e.name] = e
		r := e.record.Load()
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

// find returns the site that answers a host, in lower case and without its port;
// nil when none does. A name that a trusted proxy gives goes before the host.
func (t *table) find(host, name string) *entry {
	if name != "" {
		return t.byName[name]
	}
	if e := t.byHost[host]; e != nil {
		return e
	}
	return t.other
}
