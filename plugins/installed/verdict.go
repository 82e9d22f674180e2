package installed

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"armature/core/fault"
	"armature/plugins/dispatch"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/plugins/publisher"
	"armature/plugins/registry"
)

// Rules are what is decided by beside the records.
type Rules struct {
	// Publishers are the keys of whom plugins have to be signed by: one of each list
	// that is not empty; nil: nobody has to be.
	Publishers func() [][]string
	// FolderLimits are what plugins in folders get without being asked; zero fields
	// are as much as a manifest may say.
	FolderLimits manifest.Limits
	// Bundles are where what has served from a folder lies still; nil: nowhere.
	Bundles *BundleStore
}

// Records are the records of a site as they were last read, and what follows from them
// for a generation. They are safe for concurrent use, and nothing in them waits: the
// registry asks with its lock held.
type Records struct {
	rules   Rules
	read    atomic.Pointer[map[string]*Record] // nil before the first reading
	damaged sync.Map                           // bundles that could not be loaded again: hash to true
}

// NewRecords makes the records of a site that nobody has read yet.
func NewRecords(rules Rules) *Records {
	if rules.Publishers == nil {
		rules.Publishers = func() [][]string { return nil }
	}
	return &Records{rules: rules}
}

// all are the records by plugin; nil before they were read.
func (rs *Records) all() map[string]*Record {
	if read := rs.read.Load(); read != nil {
		return *read
	}
	return nil
}

// of is the record of a plugin, or nil.
func (rs *Records) of(plugin string) *Record { return rs.all()[plugin] }

// replace takes over what was read, and reports whether it differs.
func (rs *Records) replace(records map[string]*Record) bool {
	old := rs.read.Swap(&records)
	return old == nil || !reflect.DeepEqual(*old, records)
}

// Hashes are those of the bundles that the records name; ok is false before they were
// read.
func (rs *Records) Hashes() (hashes []string, ok bool) {
	for _, r := range rs.all() {
		hashes = append(hashes, r.Hash)
	}
	return hashes, rs.read.Load() != nil
}

// Grants is what a generation may do on the site; for dispatch.Config.
func (rs *Records) Grants(g *registry.Generation) grant.Given {
	decided := grant.Decided{Operator: !g.Stored()}
	if r := rs.of(g.Manifest.Name); r != nil {
		decided.Approved, decided.Revoked = r.Approved, r.Revoked
	}
	given := decided.Give(g.Manifest, rs.asked(g))
	if rs.trusts(g) != nil {
		given.Missing = append(given.Missing, "a signature of a publisher whom this site trusts")
	}
	return given
}

// Decide says whether a generation serves the site; for dispatch.Config. One that
// needs what nobody has approved waits, while an older one serves. Where it has
// served before, because something was taken from it, it does so for what must not
// happen without it (dispatch refuses that). Before the records were read once
// nothing serves: it might be disabled.
func (rs *Records) Decide(g, old *registry.Generation) registry.Decision {
	if rs.read.Load() == nil {
		return registry.Off
	}
	r := rs.of(g.Manifest.Name)
	switch {
	case r != nil && r.Status == Disabled:
		return registry.Off
	case !rs.waits(g):
		return registry.Serve
	case old != nil && old.Hash != g.Hash:
		return registry.Keep
	case rs.recalls(r, g):
		return registry.Await
	case r != nil && r.Hash != "" && r.Source == g.Source:
		return registry.Serve
	}
	return registry.Off
}

// waits reports whether a generation needs what nobody has approved.
func (rs *Records) waits(g *registry.Generation) bool { return len(rs.Grants(g).Missing) > 0 }

// asked lists what a generation asks for on the site, with what it is asked because
// of the version that it replaces. What is stored is loaded only once that is
// settled.
func (rs *Records) asked(g *registry.Generation) []string {
	asked := dispatch.Asked(g, rs.rules.FolderLimits)
	if g.Stored() {
		return asked
	}
	return append(asked, rs.of(g.Manifest.Name).moved(g)...)
}

// trusts returns the error with which a generation is refused that nobody has
// signed whom the server and the site name, where they do.
func (rs *Records) trusts(g *registry.Generation) error {
	for _, keys := range rs.rules.Publishers() {
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

// recalls reports whether a version in a folder has to wait for an older one to be
// brought back. That one served the site when its record was written, the file
// has been replaced since by one that asks for more than was approved, and this
// process, which started later, has never loaded the older one.
func (rs *Records) recalls(r *Record, g *registry.Generation) bool {
	return r != nil && r.Source == g.Source && r.Hash != "" && r.Hash != g.Hash && rs.waits(g) && rs.copied(r)
}

// copied reports whether there is a copy of what served by a record that is not known
// to be damaged.
func (rs *Records) copied(r *Record) bool {
	_, damaged := rs.damaged.Load(r.Hash)
	return !damaged && rs.rules.Bundles.Has(r.Hash)
}
