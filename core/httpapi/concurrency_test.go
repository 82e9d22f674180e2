package httpapi_test

import (
	"fmt"
	"sync"
	"testing"

	"armature/core/sites/sitetest"
)

// Many clients change one document at once without saying which version they
// saw: the last one wins and nobody fails.
func TestConcurrentUpdatesOfOneDocument(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		path := todo + "/" + newToDo(t, s.Admin, nil)
		const writers, rounds = 8, 10
		replies := make([][]*sitetest.Reply, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range rounds {
					replies[w] = append(replies[w], s.Admin.Put(path, obj{"description": fmt.Sprint(w, " ", i)}))
				}
			})
		}
		wg.Wait()
		seen := map[any]bool{}
		for _, some := range replies {
			for _, r := range some {
				seen[r.Data(t)["modified"]] = true
			}
		}
		if len(seen) != writers*rounds {
			t.Errorf("%d of %d changes have a modified of their own", len(seen), writers*rounds)
		}
		if last := s.Admin.Get(path).Data(t)["modified"]; !seen[last] {
			t.Errorf("the stored modified %v is none of the answered", last)
		}
	})
}
