package installed

import (
	"path/filepath"
	"slices"
	"strings"

	"armature/plugins/loader"
	"armature/plugins/registry"
)

// world is what a plan is made of: what is wanted and what there is, at one moment. A
// plan changes nothing of it.
type world struct {
	records  map[string]*Record // what is wanted, by plugin
	verdict  *Records           // what they say of a generation
	sources  []source           // what was found, by the names of the plugins
	serving  map[string]*registry.Generation
	folders  []string // that this process follows
	reported map[string]Record
	refused  map[string]string
	observer bool
}

// source is a source of the site's, its own or one for all sites.
type source struct {
	loader.State
	in        *loader.Sources
	installed *registry.Generation // nil: nothing of it could be loaded
}

func (s source) stored() bool { return isStored(s.Source) }

// world looks.
func (s *Site) world() *world {
	return &world{
		records: s.cfg.Records.all(), verdict: s.cfg.Records, sources: s.sources(), serving: s.cfg.Table.Serving(),
		folders: s.cfg.Folders, reported: s.reported, refused: s.refused, observer: s.cfg.Observer,
	}
}

// sources lists every source that serves the site, the shared ones before its own
// where two are of one plugin.
func (s *Site) sources() []source {
	var all []source
	for _, in := range []*loader.Sources{s.cfg.Shared, s.cfg.Own} {
		for _, st := range in.States() {
			all = append(all, source{st, in, in.Generation(st.Source)})
		}
	}
	slices.SortStableFunc(all, func(a, b source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// from is what is known of a source, or nil.
func (w *world) from(name string) *source {
	for i := range w.sources {
		if w.sources[i].Source == name {
			return &w.sources[i]
		}
	}
	return nil
}

// serves reports whether the source of a record serves the site.
func (w *world) serves(r *Record) bool {
	g := w.serving[r.Name]
	return g != nil && g.Source == r.Source
}

// ours reports whether a source lies in a folder that this process follows.
func ours(folders []string, source string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		return strings.HasPrefix(source, filepath.Clean(dir)+string(filepath.Separator))
	})
}
