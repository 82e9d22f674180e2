package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/runtime/abi"
)

// TestCompletion: what the shell asks for while somebody types is answered with the
// words of the contract and of the scaffolds.
func TestCompletion(t *testing.T) {
	in := armaturetest.New(t)
	for _, tt := range []struct {
		typed []string
		want  []string
	}{
		{[]string{"plugin", "new", "acme.x", "--lang", ""}, []string{"go", "rust", "assemblyscript", "c", "cpp", "zig", "wat", "js", "ts"}},
		{[]string{"plugin", "install", "x.wasm", "--approve", "kv,http"}, []string{"kv,http_fetch", "kv,http_fetch:"}},
		{[]string{"plugin", "install", "x.wasm", "--approve", "event:ToDo."}, prefixed("event:ToDo.", abi.Events())},
		{[]string{"plugin", "approve", "acme.x", "resource:ToDo:c"}, []string{"resource:ToDo:create"}},
		{[]string{"plugin", "revoke", "acme.x", "el"}, []string{"elevated"}},
		{[]string{"plugin", "run", "a.b", "--verb", ""}, []string{"GET", "POST", "PUT", "DELETE"}},
	} {
		out := in.Run(append([]string{"__complete"}, tt.typed...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		got := lines[:len(lines)-1] // the last one tells the shell how to go on
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%q: %q, want %q", tt.typed, got, tt.want)
		}
	}
	completed := func(typed ...string) string {
		return in.Run(append([]string{"__complete"}, typed...)...)
	}
	if got := completed("site", "config", ""); strings.HasPrefix(got, "default") {
		t.Errorf("a site that is not there yet is offered: %q", got)
	}
	in.Run("site", "new", "default")
	in.Run("site", "new", "shop")
	armaturetest.Put(t, filepath.Join(in.Data, "plugins", "till.js"), []byte("export function ring() {}"))
	for _, tt := range []struct {
		typed []string
		want  string
	}{
		{[]string{"site", "config", "s"}, "shop\n"},
		{[]string{"site", "drop", ""}, "default\nshop\n"},
		{[]string{"user", "keys", "--site", "d"}, "default\n"},
		{[]string{"plugin", "disable", ""}, "till\n"},
		{[]string{"plugin", "revoke", "t"}, "till\n"},
	} {
		if got := completed(tt.typed...); !strings.HasPrefix(got, tt.want+":") {
			t.Errorf("%q: %q, want %q", tt.typed, got, tt.want)
		}
	}
	words := completed("plugin", "approve", "acme.x", "")
	for _, name := range abi.Capabilities() {
		free := strings.Contains(" "+strings.Join(abi.Free(), " ")+" ", " "+name+" ")
		if strings.Contains("\n"+words, "\n"+name+"\n") == free {
			t.Errorf("%s is offered as a grant: %v", name, !free)
		}
	}
}

func prefixed(prefix string, words []string) (all []string) {
	for _, w := range words {
		all = append(all, prefix+w)
	}
	return all
}
