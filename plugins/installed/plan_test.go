package installed

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"armature/plugins/loader"
	"armature/plugins/manifest"
	"armature/plugins/registry"
	"armature/runtime/engine"
)

// told says in words what a plan would have done.
func told(steps []step) (all []string) {
	for _, st := range steps {
		switch st := st.(type) {
		case restore:
			all = append(all, "restore "+st.record.Name+" for "+st.source.Source)
		case recall:
			all = append(all, "recall "+st.record.Name)
		case load:
			all = append(all, "load "+st.record.Name+" "+st.record.Hash)
		case unload:
			all = append(all, fmt.Sprintf("unload %s, gone %v", st.plugin, st.gone))
		case report:
			all = append(all, fmt.Sprintf("report %s of %s: %q, %q waits, error %q", st.now.Name, st.now.Source, st.now.Version, st.now.PendingVersion, st.now.Error))
		case removal:
			all = append(all, "remove "+st.plugin)
		case askAnew:
			all = append(all, "ask for "+st.plugin+" anew")
		case readAgain:
			all = append(all, "read again")
		case logRejected:
			for _, src := range st {
				all = append(all, "log "+src.Source+": "+src.Error)
			}
		}
	}
	return all
}

// loaded is a version of acme.a at a source; its hash is its version. It asks for
// nothing, or for a host.
func loaded(path, version string, hosts ...string) source {
	g := &registry.Generation{
		Manifest: &manifest.Manifest{Name: "acme.a", Version: version, AllowedHosts: hosts},
		Module:   &engine.Module{}, Source: path, Hash: version,
	}
	return source{State: loader.State{Source: path, Status: loader.Serving, Name: "acme.a", Version: version, Hash: version}, installed: g}
}

// broken is a source of acme.a that cannot be loaded.
func broken(path string) source {
	return source{State: loader.State{Source: path, Status: loader.Failed, Name: "acme.a", Error: "it is broken"}}
}

func serves(s source) map[string]*registry.Generation {
	return map[string]*registry.Generation{"acme.a": s.installed}
}

// TestPlans: what a plan has done follows from what is wanted and what there is, and
// planning changes nothing.
func TestPlans(t *testing.T) {
	const inFolder, other, inDatabase = "/plugins/a.wasm", "/plugins/b.wasm", storedPrefix + "acme.a"
	record := func(path, hash string, change ...func(*Record)) map[string]*Record {
		r := &Record{Name: "acme.a", Status: Active, Version: hash, Hash: hash, Source: path}
		for _, fn := range change {
			fn(r)
		}
		return map[string]*Record{"acme.a": r}
	}
	disabled := func(r *Record) { r.Status = Disabled }
	removed := func(r *Record) { r.Status = Removed }
	one, two, stored := loaded(inFolder, "1"), loaded(inFolder, "2", "a.example"), loaded(inDatabase, "1")
	tests := []struct {
		name string
		plan func(*world) []step
		w    world
		want []string
	}{
		{"stored: not loaded yet", planStored, world{records: record(inDatabase, "1")}, []string{"load acme.a 1"}},
		{"stored: it serves", planStored, world{records: record(inDatabase, "1"), sources: []source{stored}}, nil},
		{"stored: another version is wanted", planStored, world{records: record(inDatabase, "2"), sources: []source{stored}}, []string{"load acme.a 2"}},
		{"stored: it was refused", planStored, world{records: record(inDatabase, "1"), refused: map[string]string{"acme.a": "1"}}, nil},
		{"stored: disabled", planStored, world{records: record(inDatabase, "1", disabled), sources: []source{stored}}, []string{"unload acme.a, gone false"}},
		{"stored: uninstalled", planStored, world{sources: []source{stored}}, []string{"unload acme.a, gone true"}},
		{"stored: a folder is none of its business", planStored, world{records: record(inFolder, "1"), sources: []source{one}}, nil},

		{"restore: there is no copy", planRestores, world{records: record(inFolder, "1"), sources: []source{broken(inFolder)}}, nil},
		{"recall: there is no copy", planRecalls, world{records: record(inFolder, "1"), sources: []source{two}}, nil},

		{"report: new", planReports, world{sources: []source{one}, serving: serves(one)},
			[]string{`report acme.a of /plugins/a.wasm: "1", "" waits, error ""`}},
		{"report: a newer one waits", planReports, world{records: record(inFolder, "1"), sources: []source{two}, serving: serves(one)},
			[]string{`report acme.a of /plugins/a.wasm: "1", "2" waits, error ""`}},
		{"report: broken", planReports, world{records: record(inFolder, "1"), sources: []source{broken(inFolder)}},
			[]string{"log /plugins/a.wasm: it is broken", `report acme.a of /plugins/a.wasm: "", "" waits, error "it is broken"`}},
		{"report: by an observer", planReports, world{sources: []source{one}, observer: true}, nil},
		{"report: of a stored plugin", planReports, world{records: record(inDatabase, "1"), sources: []source{stored}, serving: serves(stored)}, nil},
		{"report: of two files the one that serves", planReports, world{records: record(other, "1"), sources: []source{one, broken(other)}, serving: serves(one)},
			[]string{"log /plugins/b.wasm: it is broken", `report acme.a of /plugins/a.wasm: "1", "" waits, error ""`}},
		{"report: of two files the one it was about", planReports, world{records: record(other, "1"), sources: []source{broken(inFolder), broken(other)}},
			[]string{"log /plugins/a.wasm: it is broken", "log /plugins/b.wasm: it is broken", `report acme.a of /plugins/b.wasm: "", "" waits, error "it is broken"`}},
		{"report: of two new files the one that loads", planReports, world{sources: []source{broken(inFolder), loaded(other, "1")}},
			[]string{"log /plugins/a.wasm: it is broken", `report acme.a of /plugins/b.wasm: "1", "" waits, error ""`}},

		{"removal: it is there", planRemovals, world{records: record(inFolder, "1"), sources: []source{one}, folders: []string{"/plugins"}}, nil},
		{"removal: its file is gone", planRemovals, world{records: record(inFolder, "1"), folders: []string{"/plugins"}}, []string{"remove acme.a"}},
		{"removal: by an observer", planRemovals, world{records: record(inFolder, "1"), folders: []string{"/plugins"}, observer: true}, nil},
		{"removal: another machine's folder", planRemovals, world{records: record("/elsewhere/a.wasm", "1"), folders: []string{"/plugins"}}, nil},
		{"removal: seen here before", planRemovals, world{records: record("/elsewhere/a.wasm", "1"), reported: map[string]Record{"acme.a": {}}}, []string{"remove acme.a"}},
		{"removal: a stored one", planRemovals, world{records: record(inDatabase, "1"), folders: []string{"/plugins"}}, nil},
		{"removal: out of sight already", planRemovals, world{records: record(inFolder, "1", removed), folders: []string{"/plugins"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.w.verdict = NewRecords(Rules{Bundles: NewBundleStore(t.TempDir(), time.Now)})
			tt.w.verdict.replace(tt.w.records)
			for range 2 {
				if got := told(tt.plan(&tt.w)); !reflect.DeepEqual(got, tt.want) {
					t.Errorf("planned %q, want %q", got, tt.want)
				}
			}
		})
	}
}
