package account_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/account"
	"armature/core/fault"
)

const total = 800

func begin(a *account.Account, site string) *account.Call {
	c := &account.Call{}
	a.Begin(c, site, nil, false)
	return c
}

func held(a *account.Account) (n int64) {
	for _, v := range a.Stats().Held {
		n += v
	}
	return n
}

func take(t *testing.T, c *account.Call, n int64) {
	t.Helper()
	if err := c.Take(t.Context(), account.Body, n); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
}

// refused checks that a charge fails as of a server short of memory.
func refused(t *testing.T, err error) {
	t.Helper()
	var r account.Refusal
	h := http.Header{}
	if fault.KindOf(err) != fault.Unavailable || !errors.As(err, &r) {
		t.Fatalf("got %v", err)
	}
	if r.SetHeaders(h); h.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
}

// TestShares: nobody holds more than a call, a connection, the strangers of a site and
// a site may, and what a site leaves is there for another.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(total, nil)
		ctx := t.Context()
		if err := begin(a, "one").Take(ctx, account.Body, 401); fault.KindOf(err) != fault.TooLarge {
			t.Errorf("more than a call may have: %v", err)
		}
		conn := account.ConnectionOf(a.Connect(ctx))
		var first, second, stranger, known account.Call
		a.Begin(&first, "one", conn, false)
		a.Begin(&second, "one", conn, false)
		take(t, &first, 300)
		refused(t, second.Take(ctx, account.Body, 101))
		take(t, &second, 100)
		first.End()
		second.End()

		a.Begin(&stranger, "one", nil, true)
		a.Begin(&known, "one", nil, true)
		take(t, &stranger, 150)
		refused(t, known.Take(ctx, account.Body, 60))
		take(t, &known, 40)
		known.Know()
		take(t, &known, 300)
		take(t, &stranger, 50) // what the other held is free again
		refused(t, begin(a, "one").Take(ctx, account.Body, 61))
		take(t, begin(a, "one"), 60)
		take(t, begin(a, "two"), 200)
		if n := held(a); n != total {
			t.Errorf("%d bytes are held", n)
		}
	})
}

// TestGivenBackOnce: whatever is given back twice, or after the end, the account is
// as empty as it was.
func TestGivenBackOnce(t *testing.T) {
	a := account.New(total, nil)
	c := begin(a, "one")
	take(t, c, 100)
	if err := c.Reach(t.Context(), account.Answer, 50); err != nil {
		t.Fatal(err)
	}
	if err := c.Reach(t.Context(), account.Answer, 40); err != nil {
		t.Fatal(err)
	}
	if n := held(a); n != 150 {
		t.Errorf("%d bytes are held", n)
	}
	c.Give(account.Body, 100)
	c.Give(account.Body, 100)
	c.End()
	c.End()
	take(t, c, 10) // by whoever works on after the end
	c.Give(account.Body, 10)
	if n := held(a); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
	var none *account.Call
	take(t, none, 1<<40)
	none.End()
}

// TestWaits: who finds nothing waits for what is given back, and no longer than a
// second.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(total, nil)
		first, second := begin(a, "one"), begin(a, "one")
		take(t, first, 300)
		take(t, second, 300)
		come := make(chan error, 1)
		third := begin(a, "one")
		go func() { come <- third.Take(t.Context(), account.Body, 200) }()
		synctest.Wait()
		first.End()
		synctest.Wait()
		if err := <-come; err != nil {
			t.Errorf("after another has ended: %v", err)
		}
		begun := time.Now()
		refused(t, begin(a, "one").Take(t.Context(), account.Body, 200))
		if waited := time.Since(begun); waited < time.Second/2 || waited > time.Second {
			t.Errorf("waited %s", waited)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := begin(a, "one").Take(ctx, account.Body, 200); !errors.Is(err, context.Canceled) {
			t.Errorf("whose client has gone: %v", err)
		}
		if s := a.Stats(); s.Waited != 3 || s.Refused != 2 || s.Peak < 600 {
			t.Errorf("%+v", s)
		}
	})
}

// TestFairBetweenSites: while another site waits for more than is free, one that
// holds more than its part gets nothing of what is given back.
func TestFairBetweenSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(total, nil)
		loud := []*account.Call{begin(a, "loud"), begin(a, "loud"), begin(a, "loud")}
		for _, c := range loud {
			take(t, c, 200)
		}
		take(t, begin(a, "other"), 100)
		come := make(chan string, 2)
		charge := func(site string, n int64) {
			c := begin(a, site)
			go func() {
				if c.Take(t.Context(), account.Body, n) == nil {
					come <- site
				}
			}()
			synctest.Wait()
		}
		charge("loud", 50)
		charge("quiet", 300)
		loud[0].Give(account.Body, 100) // enough for the loud site's alone
		synctest.Wait()
		if len(come) > 0 {
			t.Errorf("%s came first", <-come)
		}
		loud[1].Give(account.Body, 100)
		synctest.Wait()
		if first := <-come; first != "quiet" {
			t.Errorf("%s came first", first)
		}
		loud[2].End()
		synctest.Wait()
		if next := <-come; next != "loud" {
			t.Errorf("%s came next", next)
		}
	})
}

// TestSpareIsAskedFirst: what somebody can do without goes before anybody waits.
func TestSpareIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(total, nil)
		idle := a.Work()
		if !idle.Try(account.Guest, 600) || idle.Try(account.Guest, 1) {
			t.Fatal("the process's own work may hold as much as a site")
		}
		a.Spare(func() { idle.Give(account.Guest, 600) })
		begun := time.Now()
		take(t, begin(a, "one"), 400)
		if waited := time.Since(begun); waited != 0 || held(a) != 400 {
			t.Errorf("waited %s, %d bytes are held", waited, held(a))
		}
	})
}

// TestWorkWaits: work of the process waits for other work, and for longer than a
// request.
func TestWorkWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(total, nil)
		work := a.Work()
		take(t, work, work.Most())
		come := make(chan error, 1)
		go func() { come <- work.Take(t.Context(), account.Child, work.Most()) }()
		time.Sleep(10 * time.Second)
		work.Give(account.Body, work.Most())
		synctest.Wait()
		if err := <-come; err != nil {
			t.Error(err)
		}
		if err := work.Take(t.Context(), account.Child, work.Most()+1); fault.KindOf(err) != fault.TooLarge {
			t.Errorf("more than there can be: %v", err)
		}
	})
}

// TestOutsideIsTold: whoever bounds Go's heap hears what is held beside it.
func TestOutsideIsTold(t *testing.T) {
	var told []int64
	a := account.New(total, func(n int64) { told = append(told, n) })
	c := begin(a, "one")
	take(t, c, 100)
	for _, kind := range []account.Kind{account.Guest, account.Child} {
		if err := c.Take(t.Context(), kind, 30); err != nil {
			t.Fatal(err)
		}
	}
	c.End()
	if len(told) < 3 || told[0] != 30 || told[1] != 60 || told[len(told)-1] != 0 {
		t.Errorf("told %d", told)
	}
}

// TestHammer: whoever comes, waits, gives up and goes, nothing is lost.
func TestHammer(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			a := account.New(total, nil)
			rng := rand.New(rand.NewPCG(seed, 1))
			var wg sync.WaitGroup
			for i := range 80 {
				site, n := string(rune('a'+i%4)), 1+rng.Int64N(300)
				start, keep, patience := time.Duration(rng.IntN(50)), time.Duration(rng.IntN(60)), time.Duration(1+rng.IntN(90))
				wg.Go(func() {
					time.Sleep(start)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					c := &account.Call{}
					a.Begin(c, site, nil, i%2 == 0)
					defer c.End()
					if c.Take(ctx, account.Body, n) != nil {
						return
					}
					if i%3 == 0 {
						c.Know()
					}
					if n := held(a); n > total {
						t.Errorf("%d bytes are held", n)
					}
					time.Sleep(keep)
				})
			}
			wg.Wait()
			if n := held(a); n != 0 {
				t.Errorf("seed %d: %d bytes are held at the end", seed, n)
			}
			take(t, begin(a, "last"), 400)
		})
	}
}
