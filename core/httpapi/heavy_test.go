package httpapi

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"armature/core/fault"
)

// Of the heavy requests of a site some go on at a time, in the order in which they
// came; another site's go on beside them, and who waits too long or among too many is
// told to come again.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		turns.atOnce = 1
		first, err := turns.take(t.Context(), "loud")
		if err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(t.Context())
		ended := make(chan error, heavyWaiting+1)
		enter := func(ctx context.Context) {
			pass, err := turns.take(ctx, "loud")
			if err == nil {
				pass()
			}
			ended <- err
		}
		go enter(gone)
		synctest.Wait()
		for range heavyWaiting - 1 {
			go enter(t.Context())
		}
		synctest.Wait()
		if _, err := turns.take(t.Context(), "loud"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("one too many: %v", err)
		}
		other, err := turns.take(t.Context(), "quiet")
		if err != nil {
			t.Fatalf("another site: %v", err)
		}
		other()
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone: %v", err)
		}
		if len(ended) > 0 {
			t.Error("two had a turn at the same time")
		}
		first()
		for range heavyWaiting - 1 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if _, err := turns.take(t.Context(), "loud"); err != nil {
			t.Fatal(err)
		}
		if _, err := turns.take(t.Context(), "loud"); fault.KindOf(err) != fault.Unavailable { // after half a minute of the bubble's
			t.Errorf("who waited too long: %v", err)
		}
	})
}

// A large body that a page reads whole waits for its turn, and a small one does not.
func TestTurnOfPages(t *testing.T) {
	s := &server{turns: newTurns()}
	for range s.turns.atOnce {
		pass, err := s.turns.take(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		defer pass()
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for size, waits := range map[int]bool{heavyBody: false, heavyBody + 1: true} {
		x := &exchange{server: s, site: &Tenant{Name: "one"}, ctx: ctx, caller: anonymous}
		x.r = httptest.NewRequestWithContext(ctx, "POST", "/mcp", strings.NewReader(strings.Repeat(" ", size)))
		if _, err := x.Body(1 << 20); errors.Is(err, context.Canceled) != waits {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
