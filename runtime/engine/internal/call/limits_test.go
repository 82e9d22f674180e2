package call_test

import (
	"slices"
	"testing"
	"time"

	"armature/runtime/engine/internal/call"
	"armature/runtime/internal/rewrite"
)

// A call gets what it asks for, the default where it says nothing, and never more than
// the maximum.
func TestEffectiveLimits(t *testing.T) {
	h := &call.Host{
		Defaults: call.Limits{Memory: 10, Fuel: 20, Wall: time.Second, Depth: 5, HostCalls: 7},
		Maximum:  call.Limits{Memory: 100, Fuel: 15, Wall: time.Minute}, // of depth and host calls it says nothing
	}
	tests := []struct {
		name        string
		asked, want call.Limits
	}{
		{"nothing", call.Limits{}, call.Limits{Memory: 10, Fuel: 15, Wall: time.Second, Depth: 5, HostCalls: 7}},
		{"less", call.Limits{Memory: 1, Fuel: 2, Wall: 3, Depth: 4, HostCalls: 5}, call.Limits{Memory: 1, Fuel: 2, Wall: 3, Depth: 4, HostCalls: 5}},
		{"more", call.Limits{Memory: 1000, Fuel: 1000, Wall: time.Hour, Depth: 1000, HostCalls: 1000},
			call.Limits{Memory: 100, Fuel: 15, Wall: time.Minute, Depth: 1000, HostCalls: 1000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.Effective(tt.asked); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if d, most := call.DefaultLimits(), call.MaxLimits(); d != d.Min(most) || d != (call.Limits{}).Or(d) {
		t.Errorf("the defaults %+v are above the maximum %+v", d, most)
	}
}

func TestBinary(t *testing.T) {
	i32, i64 := byte(call.I32), byte(call.I64)
	b := call.BinaryOf("abc", 12, &rewrite.Module{
		Imports: []rewrite.Func{{Module: "host", Name: "input"}, {Module: "env", Name: "abort"}},
		Exports: []rewrite.Func{
			{Name: "z", Params: []byte{i32}, Results: []byte{i64}}, {Name: "a"}, {Name: "long", Params: []byte{i64}}, {Name: "two", Params: []byte{i32, i32}},
		},
		Custom: []rewrite.Custom{{Name: "note", Data: []byte("1")}, {Name: "other"}, {Name: "note", Data: []byte("2")}},
	})
	if b.Hash() != "abc" || b.Size() != 12 || b.Imports()[0].String() != "host.input" {
		t.Errorf("%s of %d bytes imports %v", b.Hash(), b.Size(), b.Imports())
	}
	var names, callable []string
	for _, x := range b.Exports() {
		names = append(names, x.Name)
		if x.Callable() {
			callable = append(callable, x.Name)
		}
	}
	if !slices.Equal(names, []string{"a", "long", "two", "z"}) || !slices.Equal(callable, []string{"a", "z"}) {
		t.Errorf("of %v %v can be called", names, callable)
	}
	if _, ok := b.Export("none"); ok || len(b.Sections("note")) != 2 || string(b.Sections("note")[1]) != "2" {
		t.Errorf("the sections are %q", b.Sections("note"))
	}
}
