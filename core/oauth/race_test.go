package oauth_test

import (
	"sync"
	"sync/atomic"
	"testing"
)

// atOnce runs fn n times at once and returns the answers.
func atOnce(n int, fn func() *answer) []*answer {
	answers := make([]*answer, n)
	var wait sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wait.Go(func() {
			<-start
			answers[i] = fn()
		})
	}
	close(start)
	wait.Wait()
	return answers
}

// won counts the answers that gave tokens; all others have to be invalid_grant.
func won(t *testing.T, answers []*answer) (winners []*answer) {
	t.Helper()
	for _, a := range answers {
		if a.status == 200 {
			winners = append(winners, a)
			continue
		}
		a.is(400, "invalid_grant")
	}
	return winners
}

// TestParallelRedemption: of many who redeem one code at once, one gets tokens, and
// since the code came twice those end.
func TestParallelRedemption(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for range 5 {
			code := w.code()
			winners := won(t, atOnce(8, func() *answer { return w.redeem(code) }))
			if len(winners) != 1 {
				t.Fatalf("%d got tokens for one code", len(winners))
			}
			if w.works(winners[0].str("access_token")) {
				t.Error("the tokens live although the code came twice")
			}
		}
	})
}

// TestParallelRefresh: without a grace one wins; within one all do, and get the same
// refresh token.
func TestParallelRefresh(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for range 3 {
			_, refresh := w.tokens()
			pairs := won(t, atOnce(12, func() *answer { return w.refresh(refresh) }))
			if len(pairs) != 12 {
				t.Errorf("within the grace %d of 12 got tokens", len(pairs))
			}
			lines := map[string]bool{}
			for _, p := range pairs {
				lines[p.str("refresh_token")] = true
				if !w.works(p.str("access_token")) {
					t.Error("a sibling's token does not work")
				}
			}
			if len(lines) != 1 {
				t.Errorf("%d lines of descent", len(lines))
			}
			// Some use the old token, others are ahead already.
			var turn atomic.Int32
			second := pairs[0].str("refresh_token")
			pairs = won(t, atOnce(12, func() *answer {
				if turn.Add(1)%2 == 0 {
					return w.refresh(second)
				}
				return w.refresh(refresh)
			}))
			if len(pairs) != 12 {
				t.Errorf("of those at different places %d of 12 got tokens", len(pairs))
			}
			if a := w.refresh(pairs[len(pairs)-1].str("refresh_token")); a.status != 200 {
				t.Errorf("the grant has ended: %s", a.text)
			}
		}
		w.settings(map[string]any{"refresh_token_grace": 0})
		for range 5 {
			_, refresh := w.tokens()
			winners := won(t, atOnce(8, func() *answer { return w.refresh(refresh) }))
			if len(winners) != 1 {
				t.Errorf("without a grace %d got tokens", len(winners))
			}
		}
	})
}

// TestRevocationAgainstRefresh: whatever comes first, nothing lives after a
// revocation has been answered.
func TestRevocationAgainstRefresh(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		for range 10 {
			access, refresh := w.tokens()
			var renewed *answer
			var wait sync.WaitGroup
			wait.Go(func() { renewed = w.refresh(refresh) })
			wait.Go(func() { w.form("revoke_token", "token", access) })
			wait.Wait()
			if renewed.status == 200 && w.works(renewed.str("access_token")) {
				t.Error("a token of a revoked grant works")
			}
			w.refresh(refresh).is(400, "invalid_grant")
		}
	})
}
