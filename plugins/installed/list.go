package installed

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/scope"
	"armature/plugins/grant"
	"armature/plugins/registry"
)

// Entry is a plugin as framework.plugins.list shows it.
type Entry struct {
	*Record
	Calls    int64       `json:"calls"` // of all processes, the latest seconds aside
	Failures int64       `json:"failed_calls"`
	Waiting  []string    `json:"grants_waiting"`
	Does     []string    `json:"does"`               // what it may do, or waits to be allowed, in words
	Needs    []string    `json:"waiting_words"`      // what waits, in words
	Changes  *Difference `json:"changes"`            // of what the newest version asks for, against the one before; nil: there is none
	Versions []Version   `json:"versions,omitempty"` // of a stored plugin, latest chosen first
	Serving  *Serving    `json:"serving"`            // in the process that answers; nil: nothing
}

// Serving is what answers the calls of a plugin.
type Serving struct {
	Version  string    `json:"version"`
	Hash     string    `json:"hash"`
	LoadedAt time.Time `json:"loaded_at"`
	Calls    int64     `json:"calls"`    // that run at this moment
	Pristine bool      `json:"pristine"` // calls start from a snapshot
	Reason   string    `json:"reason,omitempty"`
}

// list shows the plugins of the site, or one of them.
func (s *Site) list(ctx context.Context, plugin string) ([]Entry, error) {
	sv, err := s.open()
	if err != nil {
		return nil, err
	}
	list := []Entry{}
	err = sv.Store.Read(ctx, func(tx document.Tx) error {
		records, counted := map[string]*Record{}, map[string]*doctype.Document{}
		err := rows(ctx, tx, sv.Documents.Schema(), pluginType, func(doc *doctype.Document) {
			records[doc.Name()], counted[doc.Name()] = recordOf(doc), doc
		})
		if err != nil {
			return err
		}
		serving := s.cfg.Table.Serving()
		for _, name := range slices.Sorted(maps.Keys(records)) {
			if plugin != "" && name != plugin || records[name].Status == Removed || s.gone(records[name]) {
				continue
			}
			e := Entry{Record: records[name], Waiting: records[name].Waiting()}
			e.Does, e.Needs = grant.InWords(e.Asked), grant.InWords(e.Waiting)
			e.Calls, e.Failures = counted[name].Int("calls"), counted[name].Int("failed_calls")
			if e.Stored() {
				if e.Versions, err = versions(ctx, tx, sv.Documents.Schema(), name); err != nil {
					return err
				}
			}
			if before, ok := s.before(&e, serving[name]); ok {
				e.Changes = difference(before, e.Asked)
			}
			if g := serving[name]; g != nil {
				e.Serving = &Serving{Version: g.Manifest.Version, Hash: g.Hash, LoadedAt: g.LoadedAt, Calls: g.Pins()}
				e.Serving.Pristine, e.Serving.Reason = g.Module.Pristine()
			}
			list = append(list, e)
		}
		list = append(list, s.unrecorded(records, plugin)...)
		return nil
	})
	if err == nil && plugin != "" && len(list) == 0 {
		err = fault.Missing("The plugin %s is not installed on this site", plugin)
	}
	return list, err
}

// before is what the version asks for that is there beside the newest: the one that
// serves while that waits, or the one that served before.
func (s *Site) before(e *Entry, serving *registry.Generation) (asked []string, ok bool) {
	if e.PendingHash != "" && serving != nil && serving.Hash != e.PendingHash {
		return s.cfg.Records.asked(serving), true
	}
	now := slices.IndexFunc(e.Versions, func(v Version) bool { return v.Hash == e.Hash })
	switch {
	case e.PendingHash != "" && now >= 0:
		return e.Versions[now].asked, true
	case e.PendingHash == "" && now >= 0 && now+1 < len(e.Versions) && e.Versions[now+1].Activated != "":
		return e.Versions[now+1].asked, true
	}
	return nil, false
}

// lines are what a plugin has logged lately in this process.
func (s *Site) lines(plugin string, n int) []json.RawMessage {
	if s.cfg.Logs == nil {
		return []json.RawMessage{}
	}
	return append([]json.RawMessage{}, s.cfg.Logs.Lines(plugin, n)...)
}

// listed are the grants that text names, between commas or spaces. A DocType's name
// may hold a space: a part that begins no grant goes on the one before.
func listed(text string) []string {
	var all []string
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		open := false // the last grant names a DocType, and is not at its end
		for _, word := range strings.Fields(part) {
			kind, _, _ := strings.Cut(word, ":")
			begins := slices.Contains([]string{"resource", "event", "sets", "public", "method", "http_fetch"}, kind)
			if open && !begins {
				all[len(all)-1] += " " + word
			} else {
				all = append(all, word)
				open = begins
			}
			if _, err := scope.Parse(all[len(all)-1]); open && err == nil && kind != "public" {
				open = false
			}
		}
	}
	return all
}
