package grant_test

import (
	"slices"
	"testing"

	"armature/plugins/grant"
	"armature/plugins/manifest"
)

func TestLimitsAreAskedFor(t *testing.T) {
	l := manifest.Limits{CPUMs: 60_000, TxMs: 2000, Memory: 1 << 20, Log: 64<<10 + 1}
	asked := grant.AskedLimits(l)
	if want := []string{"limit:cpu_ms=60000", "limit:log=65537"}; !slices.Equal(asked, want) {
		t.Fatalf("asks for %v, want %v", asked, want)
	}
	tests := []struct {
		name              string
		approved, waiting []string
		want              manifest.Limits
	}{
		{"nothing approved", nil, asked, manifest.Limits{TxMs: 2000, Memory: 1 << 20}},
		{"all approved", asked, nil, l},
		{"more was approved", []string{"limit:cpu_ms=60000", "limit:log=70000"}, nil, l},
		{"less was approved", []string{"limit:cpu_ms=59999", "limit:log=65537"}, asked[:1], manifest.Limits{TxMs: 2000, Memory: 1 << 20, Log: 64<<10 + 1}},
		{"another one was approved", []string{"limit:wall_ms=60000"}, asked, manifest.Limits{TxMs: 2000, Memory: 1 << 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (grant.Decided{Approved: tt.approved}).Waiting(asked); !slices.Equal(got, tt.waiting) {
				t.Errorf("%v wait, want %v", got, tt.waiting)
			}
			given := grant.Decided{Approved: tt.approved}.Give(&manifest.Manifest{Limits: l}, asked)
			if len(given.Missing) > 0 {
				t.Errorf("a plugin with the usual limits is kept from serving by %v", given.Missing)
			}
			if got := grant.Lowered(l, given.Limits); got != tt.want {
				t.Errorf("gets %+v, want %+v", got, tt.want)
			}
		})
	}
}
