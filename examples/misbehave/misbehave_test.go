package main

import (
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

func TestFailLeavesNothingBehind(t *testing.T) {
	s := armaturetest.New(t)
	name := s.Insert("ToDo", armature.Doc{"description": "as it was"}).Name()
	err := s.Call("acme.misbehave.fail", Failing{Name: name, Message: "not today"}, nil)
	if armature.KindOf(err) != armature.KindValidation || err.Error() != "ValidationError: not today" {
		t.Errorf("got %v", err)
	}
	if got := s.Get("ToDo", name).String("description"); got != "as it was" {
		t.Errorf("the change of a failed call is still there: %q", got)
	}
}

func TestTheServerSurvives(t *testing.T) {
	s := armaturetest.New(t)
	for method, kind := range map[string]armature.Kind{"trap": armature.KindTrap, "spin": armature.KindExhausted} {
		if err := s.Call("acme.misbehave."+method, nil, nil); armature.KindOf(err) != kind {
			t.Errorf("%s: %v", method, err)
		}
	}
	for range 2 {
		var calls int
		if err := s.Call("acme.misbehave.remember", nil, &calls); err != nil || calls != 1 {
			t.Errorf("remembers %d calls, %v", calls, err)
		}
	}
}
