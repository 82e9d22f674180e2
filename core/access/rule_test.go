package access_test

import (
	"testing"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

func TestRules(t *testing.T) {
	condition, err := query.Condition(`[["n","=",1]]`)
	if err != nil {
		t.Fatal(err)
	}
	rules := []doctype.Rule{
		{Role: "Full", Rights: access.Read | access.Write},
		{Role: "Own", Rights: access.Read | access.Create, IfOwner: true},
		{Role: "Met", Rights: access.Read, Condition: condition},
		{Role: "High", Level: 2, Rights: access.Read},
		{Role: "High", Level: 9, Rights: access.Write},
	}
	tests := []struct {
		roles  []string
		right  access.Right
		extent access.Extent
		levels access.Levels
	}{
		{nil, access.Read, access.None, 0},
		{[]string{"Full"}, access.Read, access.Full, 1},
		{[]string{"Full"}, access.Delete, access.None, 0},
		{[]string{"Own"}, access.Read, access.Limited, 1},
		{[]string{"Own"}, access.Create, access.Full, 1},
		{[]string{"Met"}, access.Read, access.Limited, 1},
		{[]string{"Met", "Full"}, access.Read, access.Full, 1},
		{[]string{"High"}, access.Read, access.None, 1 << 2},
		{[]string{"High", "Own"}, access.Read, access.Limited, 1<<2 | 1},
		{[]string{"High"}, access.Write, access.None, 1 << 9},
	}
	for _, test := range tests {
		c := &identity.Caller{User: bob, Roles: test.roles}
		if got := access.ByRole(rules, c, test.right); got != test.extent {
			t.Errorf("%v %s: extent %d, want %d", test.roles, test.right, got, test.extent)
		}
		if got := access.LevelsFor(rules, c, test.right); got != test.levels {
			t.Errorf("%v %s: levels %b, want %b", test.roles, test.right, got, test.levels)
		}
	}
	if root := identity.Root(); access.ByRole(nil, root, access.Delete) != access.Full || access.LevelsFor(nil, root, access.Read) != access.AllLevels {
		t.Error("the Administrator is asked for roles")
	}
	for level, want := range map[int]bool{-1: false, 0: true, 2: true, 3: false, 9: false, 10: false} {
		if access.Levels(1|1<<2|1<<10).Has(level) != want {
			t.Errorf("level %d", level)
		}
	}
}
