package installed

import (
	"path/filepath"
	"slices"
	"strings"

	"armature/plugins/grant"
	"armature/plugins/loader"
)

// nameOf is the name under which a source in a folder is spoken of: the plugin's,
// or where the manifest cannot be read that of the file.
func nameOf(st loader.State) string {
	if st.Name != "" {
		return st.Name
	}
	name := filepath.Base(st.Source)
	switch ext := filepath.Ext(name); ext {
	case ".wasm", ".js", ".ts", ".mjs", ".mts":
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// unrecorded are the plugins in folders of which there is no record. They were
// refused: nothing could be read of them, or another one has their name. Or the
// server has not written them down yet, because nobody has used the site since.
func (s *Site) unrecorded(records map[string]*Record, plugin string) (list []Entry) {
	recorded := map[string]bool{}
	for _, r := range records {
		recorded[r.Source] = true
	}
	for _, st := range s.sources() {
		name := nameOf(st.State)
		if recorded[st.Source] || st.stored() || plugin != "" && name != plugin {
			continue
		}
		e := Entry{Record: &Record{
			Name: name, Version: st.Version, Hash: st.Hash, Source: st.Source, Error: st.Error,
			Asked: []string{}, Approved: []string{}, Revoked: []string{}, Optional: []string{}, Methods: []string{},
		}}
		if st.Error == "" && s.cfg.Observer {
			if r := records[st.Name]; r != nil && !s.gone(r) {
				// In this process it came first; in the server it was refused.
				e.Error = "another plugin has the name " + st.Name + ": " + r.Source
			} else if unwritten := s.unwritten(st.Name); unwritten != nil {
				e.Record = unwritten
			}
		}
		switch {
		case e.Error != "":
			e.Status = Failed
		case e.Status == "":
			continue
		}
		e.Waiting = append([]string{}, e.Record.Waiting()...)
		list = append(list, e)
	}
	return list
}

// unwritten is the record of a plugin in a folder that the server has not written
// yet; nil if there is none, and in the server, which writes before it answers.
func (s *Site) unwritten(plugin string) *Record {
	if !s.cfg.Observer {
		return nil
	}
	for _, st := range s.sources() {
		g := st.installed
		if st.Name != plugin || st.stored() || st.Error != "" || g == nil {
			continue
		}
		r := &Record{Name: st.Name, Version: st.Version, Hash: st.Hash, Source: st.Source, Asked: s.cfg.Records.asked(g), Approved: []string{}, Revoked: []string{}, Optional: grant.Optional(g.Manifest), Methods: methods(g), Publisher: g.Publisher}
		r.settle()
		return r
	}
	return nil
}

// gone reports whether a record is one of a plugin that lay in a folder of this
// process and does no more, which the server has not noted yet. Servers remove
// such records themselves.
func (s *Site) gone(r *Record) bool {
	return s.cfg.Observer && !r.Stored() && ours(s.cfg.Folders, r.Source) &&
		!slices.ContainsFunc(s.sources(), func(st source) bool { return st.Source == r.Source })
}
