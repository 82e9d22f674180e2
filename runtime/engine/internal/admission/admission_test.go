package admission

import (
	"fmt"
	"strings"
	"testing"
)

// never is a call whose wait nothing ends.
type never struct{}

func (never) Done() <-chan struct{} { return nil }

// turns runs quiet and noisy calls that pass their slot on at every turn, and
// returns whose turns they were. queue gives each party a number of calls.
func turns(t *testing.T, slots, n int, queue map[string]int, order ...string) string {
	t.Helper()
	a := New(slots)
	var waiting []*waiter
	var held []string
	a.mu.Lock()
	for _, name := range order {
		for range queue[name] {
			if p := a.party(name); a.free > 0 {
				a.free--
				p.held++
				held = append(held, name)
			} else {
				waiting = append(waiting, a.enqueue(p, false))
			}
		}
	}
	a.mu.Unlock()
	var got strings.Builder
	for range n {
		// The call that has held a slot for longest passes it on.
		name := held[0]
		held = held[1:]
		a.mu.Lock()
		p := a.party(name)
		p.held--
		waiting = append(waiting, a.enqueue(p, true))
		a.hand()
		a.mu.Unlock()
		for i, w := range waiting {
			select {
			case <-w.ready:
				held = append(held, w.party.name)
				waiting = append(waiting[:i:i], waiting[i+1:]...)
			default:
				continue
			}
			break
		}
		got.WriteString(held[len(held)-1])
	}
	return got.String()
}

// TestTurns: parties take turns, however many calls each has, and who needs less
// than its share gets all it needs.
func TestTurns(t *testing.T) {
	tests := []struct {
		name  string
		slots int
		calls map[string]int
		want  string
	}{
		{"one slot", 1, map[string]int{"a": 9, "b": 1}, "abababab"},
		{"three parties", 1, map[string]int{"a": 9, "b": 5, "c": 1}, "abcabcabc"},
		{"fewer calls than slots", 3, map[string]int{"a": 9, "b": 1}, "baabaabaa"},
		{"one party alone", 2, map[string]int{"a": 9}, "aaaa"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := turns(t, tt.slots, len(tt.want), tt.calls, "a", "b", "c"); got != tt.want {
				t.Errorf("turns %s, want %s", got, tt.want)
			}
		})
	}
}

// TestAdmissionForgets: slots come back and parties are forgotten, also when a
// wait ends without a slot.
func TestAdmissionForgets(t *testing.T) {
	a := New(1)
	ended := make(chan struct{})
	close(ended)
	for i := range 3 {
		name := fmt.Sprint(i)
		if !a.Acquire(name, false, never{}) {
			t.Fatal("no slot")
		}
		if a.Acquire("other", false, over(ended)) || a.Waiting() > 0 {
			t.Fatal("a slot too many")
		}
		a.Release(name)
	}
	if len(a.parties) != 0 || len(a.order) != 0 || a.free != 1 {
		t.Errorf("%+v", a)
	}
}

type over chan struct{}

func (o over) Done() <-chan struct{} { return o }
