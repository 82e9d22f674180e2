package installed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/plugins/loader"
	"armature/plugins/manifest"
	"armature/plugins/registry"
	"armature/runtime/abi"
	"armature/runtime/engine"
)

// What a greedy version of the plugins of these tests asks for.
var greed = []string{abi.HTTPFetch, abi.HTTPFetch + ":a.example"}

const older = abi.DocGet // an entry of before there was a language of rights

// anyWorld is a world of three plugins, in which each file is some version of any of
// them, cannot be loaded, or is not there.
func anyWorld(rnd *rand.Rand, bundles *BundleStore) *world {
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	some := func(from ...string) []string {
		return slices.DeleteFunc(from, func(string) bool { return rnd.IntN(2) == 0 })
	}
	names := []string{"acme.a", "acme.b", "acme.c"}
	files := []string{"/plugins/a.wasm", "/plugins/b.wasm"}
	w := &world{
		records: map[string]*Record{}, verdict: NewRecords(Rules{Bundles: bundles}),
		serving: map[string]*registry.Generation{}, observer: rnd.IntN(8) == 0,
	}
	for _, name := range some(names...) {
		version := pick("", "1", "2", "3")
		w.records[name] = &Record{
			Name: name, Source: pick(append(files[:2:2], storedSource(name))...), Version: version, Hash: version, PendingHash: pick("", "", "9"),
			Status: Status(pick(string(Active), string(Active), string(Disabled), string(Awaiting), string(Failed), string(Removed))),
			Asked:  some(append([]string{older}, greed...)...), Approved: some(append([]string{"version:1", "version:2"}, greed...)...),
		}
	}
	for _, file := range some("/plugins/a.wasm", "/plugins/b.wasm", storedSource("acme.a"), storedSource("acme.b")) {
		name, version := pick(names...), pick("1", "2", "3")
		if isStored(file) {
			name = strings.TrimPrefix(file, storedPrefix)
		}
		if rnd.IntN(3) == 0 {
			w.sources = append(w.sources, source{State: loader.State{Source: file, Status: loader.Failed, Name: pick("", name)}})
			continue
		}
		g := &registry.Generation{
			Manifest: &manifest.Manifest{Name: name, Version: version}, Module: &engine.Module{}, Source: file, Hash: version,
		}
		if rnd.IntN(2) == 0 {
			g.Manifest.Grants, g.Manifest.AllowedHosts = []string{abi.HTTPFetch}, []string{"a.example"}
		}
		w.sources = append(w.sources, source{State: loader.State{Source: file, Status: loader.Serving, Name: name}, installed: g})
		if rnd.IntN(3) == 0 {
			w.serving[name] = g
		}
	}
	w.verdict.replace(w.records)
	return w
}

// asksOf is what a version asks for.
func asksOf(g *registry.Generation) []string {
	if g.Manifest.Grants == nil {
		return nil
	}
	return greed
}

func within(part, of []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(of, s) })
}

// each are the records and sources of a world that belong together, in the order of
// the plugins' names.
func each(w *world, fn func(r *Record, src source)) {
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		for _, src := range w.sources {
			if src.Source == w.records[name].Source {
				fn(w.records[name], src)
			}
		}
	}
}

// TestPlansOfAnyWorld: each of these plans is what its rule, said the simplest way,
// makes of any world; it is the same every time, and leaves the world as it is.
func TestPlansOfAnyWorld(t *testing.T) {
	dir := t.TempDir()
	for _, hash := range []string{"1", "3"} {
		if err := os.WriteFile(filepath.Join(dir, hash+".wasm"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundles := NewBundleStore(dir, time.Now)
	copied := func(r *Record) bool { return r.Hash == "1" || r.Hash == "3" }

	// A file that is broken, and was not before: its plugin goes on as it was.
	restores := func(w *world) (want []string) {
		for _, of := range w.sources {
			first := true
			each(w, func(r *Record, src source) {
				itsOwn := src.Name == "" || src.Name == r.Name
				on := r.Status != Disabled && r.Status != Removed
				if src.Source == of.Source && src.installed == nil && !isStored(src.Source) && itsOwn && on && copied(r) && first {
					want, first = append(want, "restore "+r.Name+" for "+src.Source), false
				}
			})
		}
		return want
	}
	// A file that was replaced by a version that has to wait, while nothing serves: the
	// version of before serves until then.
	recalls := func(w *world) (want []string) {
		each(w, func(r *Record, src source) {
			g := src.installed
			if g == nil || isStored(src.Source) || g.Manifest.Name != r.Name || r.Status == Disabled || w.serving[r.Name] != nil || g.Hash == r.Hash {
				return
			}
			back := g.Manifest.Version < r.Version && !slices.Contains(r.Approved, "version:"+g.Manifest.Version)
			if copied(r) && (back || !within(asksOf(g), r.Approved)) {
				want = append(want, "recall "+r.Name)
			}
		})
		return want
	}
	// A stored plugin whose record lacks what its version asks for, unless the record is
	// about another version, in today's language.
	rights := func(w *world) (want []string) {
		each(w, func(r *Record, src source) {
			g := src.installed
			if w.observer || g == nil || !isStored(src.Source) || g.Hash != r.Hash || within(asksOf(g), r.Asked) {
				return
			}
			if r.PendingHash == "" || slices.Contains(r.Asked, older) {
				want = append(want, "ask for "+r.Name+" anew")
			}
		})
		if want != nil {
			want = append(want, "read again")
		}
		return want
	}

	rnd := rand.New(rand.NewPCG(1, 2))
	planned := map[string]int{}
	for i := range 10_000 {
		w := anyWorld(rnd, bundles)
		before := describe(w)
		for name, rule := range map[string]struct {
			plan func(*world) []step
			want []string
		}{
			"restores": {planRestores, restores(w)}, "recalls": {planRecalls, recalls(w)}, "rights": {planRights, rights(w)},
		} {
			for range 3 {
				if got := told(rule.plan(w)); !reflect.DeepEqual(got, rule.want) {
					t.Fatalf("world %d, %s: planned %q, want %q\nin %s", i, name, got, rule.want, before)
				}
			}
			if len(rule.want) > 0 {
				planned[name]++
			}
		}
		if after := describe(w); after != before {
			t.Fatalf("world %d has changed: %s, it was %s", i, after, before)
		}
	}
	for _, name := range []string{"restores", "recalls", "rights"} {
		if planned[name] < 50 {
			t.Errorf("%s were planned in %d worlds only", name, planned[name])
		}
	}
}

func describe(w *world) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.records)) {
		fmt.Fprintf(&b, "%+v\n", *w.records[name])
	}
	for _, src := range w.sources {
		fmt.Fprintf(&b, "%+v", src.State)
		if src.installed != nil {
			fmt.Fprintf(&b, " %+v", *src.installed.Manifest)
		}
		b.WriteString("\n")
	}
	return b.String()
}
