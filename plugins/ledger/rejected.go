package ledger

import (
	"path/filepath"
	"strings"

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

// logRejected writes what is wrong with a plugin in a folder into its log, once,
// where its author looks for it.
func (s *Site) logRejected() {
	if s.l.cfg.Logs == nil || s.l.cfg.Observer {
		return
	}
	now := map[string]string{}
	for _, st := range s.l.cfg.Loader.States(s.name) {
		if st.Error == "" || isStored(st.Source) {
			continue
		}
		now[st.Source] = st.Error
		if s.rejected[st.Source] == st.Error {
			continue
		}
		attrs := []any{"source", st.Source, "error", st.Error}
		if st.Status == loader.Serving {
			attrs = append(attrs, "serving", st.Version)
		}
		s.l.cfg.Logs.Logger(s.name, nameOf(st), nil).Error("plugin not loaded", attrs...)
	}
	s.rejected = now
}

// unrecorded are the plugins in folders of which there is no record, because they
// were refused: nothing could be read of them, or another one has their name.
func (s *Site) unrecorded(records map[string]*Record, plugin string) (list []Entry) {
	recorded := map[string]bool{}
	for _, r := range records {
		recorded[r.Source] = true
	}
	for _, st := range s.l.cfg.Loader.States(s.name) {
		name := nameOf(st)
		if recorded[st.Source] || isStored(st.Source) || plugin != "" && name != plugin {
			continue
		}
		if r := records[st.Name]; st.Error == "" && r != nil && s.l.cfg.Observer {
			// In this process it came first; in the server it was refused.
			st.Error = "another plugin has the name " + st.Name + ": " + r.Source
		}
		if st.Error == "" {
			continue
		}
		list = append(list, Entry{Record: &Record{
			Name: name, Status: Failed, Version: st.Version, Hash: st.Hash, Source: st.Source, Error: st.Error,
			Asked: []string{}, Approved: []string{}, Methods: []string{},
		}, Waiting: []string{}})
	}
	return list
}
