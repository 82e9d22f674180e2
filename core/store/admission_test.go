package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"armature/core/fault"
)

// waits is a job that has been put into the line without a turn.
func waits(t *testing.T, l *admission, party string) *job {
	t.Helper()
	j := &job{ctx: t.Context(), party: party, turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if party == "" {
		l.first.push(j)
	} else if !l.guests.push(j) {
		t.Fatal("no room in the line")
	}
	return j
}

func served(j *job) bool {
	select {
	case <-j.turn:
		return true
	default:
		return false
	}
}

// next is the name of the job that has the turn, out of those that wait.
func next(t *testing.T, all map[string]*job) string {
	t.Helper()
	found := ""
	for name, j := range all {
		if served(j) {
			found += name
			delete(all, name)
		}
	}
	return found
}

// Sixteen calls of one plugin wait. A login that comes last goes first, and the
// one call of another plugin has to wait for a single one of the sixteen.
func TestAdmissionOrder(t *testing.T) {
	l := newAdmission(1, time.Minute)
	if err := l.turnFor(t.Context(), "greedy", 0); err != nil {
		t.Fatal(err)
	}
	all := map[string]*job{}
	for i := range 16 {
		all[fmt.Sprintf("greedy%02d ", i)] = waits(t, l, "greedy")
	}
	all["modest "] = waits(t, l, "modest")
	all["login1 "], all["login2 "] = waits(t, l, ""), waits(t, l, "")
	var order string
	for party := "greedy"; len(all) > 15; {
		l.release(party)
		now := next(t, all)
		order += now
		switch {
		case now == "modest ":
			party = "modest"
		case now < "login" || now == "greedy00 ":
			party = "greedy"
		default:
			party = ""
		}
	}
	if want := "login1 login2 greedy00 modest "; order != want {
		t.Errorf("turns went to %s, want %s", order, want)
	}
}

// What never ends coming does not keep a guest out.
func TestAdmissionStarvesNobody(t *testing.T) {
	l := newAdmission(1, time.Minute)
	if err := l.turnFor(t.Context(), "", 0); err != nil {
		t.Fatal(err)
	}
	guest := waits(t, l, "plugin")
	for n := 0; !served(guest); n++ {
		if n > maxPassed {
			t.Fatalf("%d turns went past the guest", n)
		}
		waits(t, l, "")
		waits(t, l, "")
		l.release("")
	}
}

// After a guest that kept the one turn for long comes nobody of the guests for a
// moment, and everybody else at once.
func TestAdmissionPauses(t *testing.T) {
	l := newAdmission(1, time.Minute)
	defer l.close()
	if err := l.turnFor(t.Context(), "slow", 0); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.since = time.Now().Add(-time.Second)
	l.mu.Unlock()
	guest := waits(t, l, "slow")
	l.release("slow")
	if served(guest) {
		t.Fatal("the next guest came without a pause")
	}
	if err := l.turnFor(t.Context(), "", time.Nanosecond); err != nil {
		t.Fatalf("a login waits in the pause: %v", err)
	}
	l.release("")
	select {
	case <-guest.turn:
	case <-time.After(2 * time.Minute):
		t.Error("the pause does not end")
	}
}

// The calls of a party that wait are bounded, and one whose caller is gone leaves.
func TestAdmissionIsBounded(t *testing.T) {
	l := newAdmission(1, time.Minute)
	if err := l.turnFor(t.Context(), "greedy", 0); err != nil {
		t.Fatal(err)
	}
	for range maxWaiting {
		waits(t, l, "greedy")
	}
	if err := l.turnFor(t.Context(), "greedy", 0); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("one call too many: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.turnFor(gone, "modest", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who is gone: %v", err)
	}
	if err := l.turnFor(t.Context(), "modest", time.Millisecond); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("who waited too long: %v", err)
	}
	if l.guests.count != maxWaiting || len(l.guests.order) != 1 {
		t.Errorf("%d wait of %v", l.guests.count, l.guests.order)
	}
}

// Whatever comes and goes: no turn is lost or given twice, a party's calls keep
// their order, and some turns are never a guest's.
func TestAdmissionProperty(t *testing.T) {
	for range 200 {
		turns := 1 + rand.IntN(8)
		l := newAdmission(turns, time.Minute)
		l.rests = false
		var waiting, holding []*job
		for range 300 {
			switch n := rand.IntN(3); {
			case n == 0 && len(holding) > 0:
				i := rand.IntN(len(holding))
				l.release(holding[i].party)
				holding = slices.Delete(holding, i, i+1)
			case n == 1 && len(waiting) > 0:
				i := rand.IntN(len(waiting))
				if l.leave(waiting[i]) {
					waiting = slices.Delete(waiting, i, i+1)
				}
			default:
				waiting = append(waiting, waits(t, l, []string{"", "a", "b", "c"}[rand.IntN(4)]))
				l.mu.Lock()
				l.hand()
				l.mu.Unlock()
			}
			late := map[string]bool{} // parties of which an earlier call waits
			waiting = slices.DeleteFunc(waiting, func(j *job) bool {
				if !served(j) {
					late[j.party] = true
					return false
				}
				if late[j.party] {
					t.Fatalf("a call of %q overtook another", j.party)
				}
				holding = append(holding, j)
				return true
			})
			guests := 0
			for _, j := range holding {
				if j.party != "" {
					guests++
				}
			}
			most := max(1, turns*3/4)
			if len(holding) > turns || guests > most || l.free != turns-len(holding) || l.spare != most-guests {
				t.Fatalf("%d of %d turns are taken, %d by guests; %d are free, %d for guests", len(holding), turns, guests, l.free, l.spare)
			}
			if l.free > 0 && (l.first.count > 0 || l.guests.count > 0 && l.spare > 0) {
				t.Fatal("a turn is free, and somebody waits who may take it")
			}
		}
	}
}

// TestSitesTakeTurns: where sites share turns, one that waits with many goes before
// another with one by a turn at most.
func TestSitesTakeTurns(t *testing.T) {
	l := newAdmission(1, time.Minute)
	if err := l.turnFor(t.Context(), "", 0); err != nil {
		t.Fatal(err)
	}
	for _, site := range []string{"loud", "loud", "loud", "quiet", "loud", "quiet"} {
		l.first.push(&job{ctx: t.Context(), site: site, turn: make(chan struct{})})
	}
	var order []string
	for l.first.count > 0 {
		order = append(order, l.first.peek().site)
		l.release("")
	}
	if want := []string{"loud", "quiet", "loud", "quiet", "loud", "loud"}; !slices.Equal(order, want) {
		t.Errorf("the turns were %v, want %v", order, want)
	}
}
