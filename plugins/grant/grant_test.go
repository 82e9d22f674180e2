package grant_test

import (
	"slices"
	"testing"

	"armature/core/fault"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

func TestAskedAndGiven(t *testing.T) {
	m := &manifest.Manifest{
		Grants:       []string{"doc_get", "http_fetch", "elevated", "enqueue"},
		AllowedHosts: []string{"b.example", "a.example"},
	}
	var imports []engine.ImportName
	for _, name := range []string{"doc_get", "http_fetch", "input", "caller_get", "doc_list"} {
		imports = append(imports, engine.ImportName{Module: "armature1", Name: name})
	}
	asked := grant.Asked(m, imports)
	// enqueue is not imported, doc_list is not in the manifest.
	want := []string{"doc_get", "elevated", "http_fetch", "http_fetch:a.example", "http_fetch:b.example"}
	if !slices.Equal(asked, want) {
		t.Fatalf("asked %v, want %v", asked, want)
	}
	if g := grant.Give(asked, nil); g.Grants != hostapi.Grant("doc_get") || len(g.Hosts) != 0 {
		t.Errorf("without approval: %+v", g)
	}
	approved, err := grant.Approve(asked, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g := grant.Give(asked, approved); g.Grants != hostapi.Grant("doc_get", "http_fetch") || len(g.Hosts) != 2 {
		t.Errorf("all approved: %+v", g)
	}
	if w := grant.Waiting(asked, approved); !slices.Equal(w, []string{"elevated"}) {
		t.Errorf("waiting %v", w)
	}
	if approved, err = grant.Approve(asked, approved, []string{"elevated"}); err != nil || !grant.Give(asked, approved).Grants.Has(hostapi.Elevated) {
		t.Errorf("elevated by name: %v, %v", approved, err)
	}
	one, err := grant.Approve(asked, nil, []string{"http_fetch:a.example"})
	if g := grant.Give(asked, one); err != nil || !slices.Equal(g.Hosts, []string{"a.example"}) || !g.Grants.Has(hostapi.Grant("http_fetch")) {
		t.Errorf("one host: %+v, %v", g, err)
	}
	if _, err := grant.Approve(asked, nil, []string{"kv_get"}); fault.KindOf(err) != fault.Validation {
		t.Errorf("error %v", err)
	}
}
