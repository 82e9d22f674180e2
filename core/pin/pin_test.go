package pin_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/pin"
)

// A database that is replaced is closed by whoever uses it last.
func Example() {
	var users pin.Count
	fmt.Println("taken:", users.Take())
	fmt.Println("nobody uses it:", users.Retire())
	fmt.Println("taken:", users.Take())
	fmt.Println("that was the last one:", users.Drop())
	// Output:
	// taken: true
	// nobody uses it: false
	// taken: false
	// that was the last one: true
}

func TestCount(t *testing.T) {
	var c pin.Count
	if c.Retired() || c.Held() != 0 || !c.Take() || c.Held() != 1 || c.RetireUnused() {
		t.Fatal("a new count was not free to take, or was retired while it was held")
	}
	if c.Drop() || !c.RetireUnused() || !c.Retired() || c.RetireUnused() || c.Take() {
		t.Error("an unused count was not retired once and for all")
	}
	var held pin.Count
	held.Take()
	if held.Retire() || held.Take() {
		t.Error("retired while it is held, it is closed too early or taken again")
	}
	held.Again()
	if held.Held() != 2 || held.Drop() || !held.Drop() {
		t.Error("the last of two holders was not told")
	}
}

// TestClosedOnce: however takers and the retirement meet, one of them closes, after
// the last that was let in.
func TestClosedOnce(t *testing.T) {
	for range 200 {
		var c pin.Count
		var inside, closed atomic.Int64
		var work sync.WaitGroup
		shut := func() {
			if inside.Load() != 0 {
				t.Error("closed while somebody was in")
			}
			closed.Add(1)
		}
		for range 8 {
			work.Go(func() {
				if !c.Take() {
					return
				}
				inside.Add(1)
				inside.Add(-1)
				if c.Drop() {
					shut()
				}
			})
		}
		work.Go(func() {
			if c.Retire() {
				shut()
			}
		})
		work.Wait()
		if n := closed.Load(); n != 1 {
			t.Fatalf("closed %d times", n)
		}
	}
}
