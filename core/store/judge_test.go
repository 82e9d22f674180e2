package store_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/store/judge"
	"armature/core/store/pgproxy"
	"armature/core/store/storetest"
)

// judged is how long histories are made: ARMATURE_JUDGE says so where it is set,
// as in ARMATURE_JUDGE=10m.
func judged(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("ARMATURE_JUDGE")
	if text == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// acquit fails the test for each finding, and where there was nothing to find.
func acquit(t *testing.T, history []judge.Txn) {
	t.Helper()
	var count [3]int
	for _, txn := range history {
		count[txn.Outcome]++
	}
	t.Logf("%d transactions done, %d failed, %d unknown", count[judge.Done], count[judge.Failed], count[judge.Unknown])
	if count[judge.Done] < 20 {
		t.Error("too few transactions to say anything")
	}
	for i, f := range judge.Check(history) {
		if i < 10 {
			t.Error(f)
		}
	}
}

func TestJudgeSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	h := storetest.Historian{Stores: []document.Store{openFile(t, path), openFile(t, path)}, Workers: 8, For: judged(t)}
	acquit(t, h.Run(t))
}

// throughProxy opens stores of one schema, each with connections that meet faults.
func throughProxy(t *testing.T, n int, faults pgproxy.Faults) (stores []document.Store, proxies []*pgproxy.Proxy) {
	t.Helper()
	url := postgresURL(t)
	schema := newSchema(t, url)
	for range n {
		p, err := pgproxy.Listen(url, faults)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		stores, proxies = append(stores, openSchema(t, p.URL, schema)), append(proxies, p)
	}
	return stores, proxies
}

// TestJudgePostgres: with three processes, whose connections break now and then,
// around commits above all.
func TestJudgePostgres(t *testing.T) {
	var h storetest.Historian
	fates := map[int]pgproxy.Fate{0: pgproxy.Before, 1: pgproxy.After, 2: pgproxy.Lose}
	fate := func() pgproxy.Fate {
		if !h.Begun.Load() {
			return pgproxy.Pass
		}
		return fates[rand.IntN(100)]
	}
	stores, proxies := throughProxy(t, 3, pgproxy.Faults{Commit: fate})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
				if h.Begun.Load() {
					proxies[i%len(proxies)].Cut()
				}
			}
		}
	}()
	h.Stores, h.Workers, h.For = stores, 9, judged(t)
	history := h.Run(t)
	close(stop)
	<-done
	acquit(t, history)
}

// weaker has transactions run at another level than they ask for.
func weaker(level string) func(string) string {
	return func(statement string) string {
		return strings.Replace(statement, "ISOLATION LEVEL SERIALIZABLE", "ISOLATION LEVEL "+level, 1)
	}
}

// TestJudgeNotices: what the store is kept from by its own rules is found where the
// rules are broken.
func TestJudgeNotices(t *testing.T) {
	for _, tt := range []struct {
		name   string
		faults pgproxy.Faults
		again  bool
		want   judge.Kind
	}{
		{"READ COMMITTED", pgproxy.Faults{Rewrite: weaker("READ COMMITTED")}, false, judge.Lost},
		{"REPEATABLE READ", pgproxy.Faults{Rewrite: weaker("REPEATABLE READ")}, false, judge.WriteSkew},
		{"again after an unknown commit", pgproxy.Faults{}, true, judge.Duplicate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var begun atomic.Pointer[storetest.Historian]
			if tt.again {
				tt.faults.Commit = func() pgproxy.Fate {
					if h := begun.Load(); h != nil && h.Begun.Load() && rand.IntN(10) == 0 {
						return pgproxy.After
					}
					return pgproxy.Pass
				}
			}
			for range 5 {
				stores, _ := throughProxy(t, 2, tt.faults)
				h := &storetest.Historian{Stores: stores, Workers: 8, For: 2 * time.Second, Again: tt.again}
				begun.Store(h)
				for _, f := range judge.Check(h.Run(t)) {
					if f.Kind == tt.want {
						t.Log(f)
						return
					}
				}
			}
			t.Errorf("nothing was noticed of %v", tt.want)
		})
	}
}
