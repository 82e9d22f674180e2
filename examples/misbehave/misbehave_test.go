package main

import (
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/stubhost"
)

func TestFailLeavesNothingBehind(t *testing.T) {
	h := stubhost.New(t)
	h.Put("ToDo", armature.Doc{"name": "T1", "description": "as it was"})
	err := h.Call(exportFail, Failing{Name: "T1", Message: "not today"}, nil)
	if armature.KindOf(err) != armature.KindValidation || err.Error() != "ValidationError: not today" {
		t.Errorf("got %v", err)
	}
	if got := h.Doc("ToDo", "T1").String("description"); got != "as it was" {
		t.Errorf("the change of a failed call is still there: %q", got)
	}
}

func TestTrapPanics(t *testing.T) {
	h := stubhost.New(t)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_ = h.Call(exportTrap, nil, nil)
}
