package oracle_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// holes are ways in which a server could forget something. Each is planted in
// the oracle, not in the server: that the two oracles are told apart says that
// the questions would tell such a server from the right one.
var holes = []string{
	"User Permissions are not asked",
	"the DocType that a User Permission is applicable for is not read",
	"hidden descendants of a permitted node are seen",
	"descendants of a permitted node are not seen",
	"links that ignore User Permissions do not",
	"an empty link is refused by a User Permission",
	"a row is seen without its document",
	"a link leads to what is hidden",
	"what a link leads to takes the row away when hidden",
	"shares are not asked",
	"a share without read lets read",
	"shares with everyone are not read",
	"if_owner is not read",
	"conditions are not read",
	"all rules must hold",
	"levels of the DocType are not asked",
	"levels of a table are not asked",
	"levels of rows are not asked",
	"levels beyond a link are not asked",
	"select shows every field",
	"has no is has",
	"null is unlike everything",
	"operators of trees walk through hidden nodes",
	"a hidden table multiplies rows",
}

// Every hole is found by what the list is compared with, in some minutes at most.
func TestHolesAreFound(t *testing.T) {
	left, end := slices.Clone(holes), time.Now().Add(5*time.Minute)
	for seed := uint64(1); len(left) > 0 && time.Now().Before(end); seed++ {
		w := drawWorld(seed)
		d := &drawer{rand.New(rand.NewPCG(seed, 2)), w}
		for range questions {
			q, p := d.question(), w.callers[d.IntN(len(w.callers))]
			whole := shown(q, (&oracle{w: w, p: p}).answer(q))
			left = slices.DeleteFunc(left, func(hole string) bool {
				found := shown(q, (&oracle{w: w, p: p, hole: hole}).answer(q)) != whole
				if found {
					t.Logf("%s: found by seed %d", hole, seed)
				}
				return found
			})
		}
	}
	for _, hole := range left {
		t.Errorf("%s: was not found", hole)
	}
}
