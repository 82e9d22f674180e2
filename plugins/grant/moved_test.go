package grant_test

import (
	"slices"
	"testing"

	"armature/plugins/grant"
)

// TestMoved: another key and an older number are asked about, and nothing that
// cannot be compared.
func TestMoved(t *testing.T) {
	for _, tt := range []struct {
		from, to grant.Release
		want     []string
	}{
		{grant.Release{Version: "1.0.0"}, grant.Release{Version: "1.0.1", Publisher: "none"}, nil},
		{grant.Release{Version: "1.0.0", Publisher: "A"}, grant.Release{Version: "1.1", Publisher: "A"}, nil},
		{grant.Release{Version: "1.0.0", Publisher: "A"}, grant.Release{Version: "2", Publisher: "B"}, []string{"publisher:B"}},
		{grant.Release{Version: "1.0.0", Publisher: "A"}, grant.Release{Version: "1.0.0"}, []string{"publisher:none"}},
		{grant.Release{Version: "1.10.0"}, grant.Release{Version: "v1.9.0"}, []string{"version:v1.9.0"}},
		{grant.Release{Version: "1.0.0"}, grant.Release{Version: "1.0.0-rc.1"}, []string{"version:1.0.0-rc.1"}},
		{grant.Release{Version: "sha-1"}, grant.Release{Version: "sha-0"}, nil},
		{grant.Release{Version: "2", Publisher: "A"}, grant.Release{Version: "1"}, []string{"publisher:none", "version:1"}},
	} {
		got := grant.Moved(tt.from, tt.to)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v to %v: %q, want %q", tt.from, tt.to, got, tt.want)
		}
		for i, words := range grant.InWords(got) {
			if words == got[i] || !grant.NeedsApproval(got[i], true) {
				t.Errorf("%s: %q", got[i], words)
			}
		}
		if left := grant.WithoutMoves(append(got, "kv")); !slices.Equal(left, []string{"kv"}) {
			t.Errorf("left %q", left)
		}
	}
}
