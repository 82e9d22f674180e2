package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/store"
	"armature/core/store/pgbouncer"
	"armature/core/store/pgserver"
)

// BenchmarkSites is 32 at a time who read or write a document of any of many sites,
// which share 40 connections: with a pooler before the server and without.
// ARMATURE_SITES says how many sites; making a thousand takes minutes.
func BenchmarkSites(b *testing.B) {
	n := 20
	if text := os.Getenv("ARMATURE_SITES"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	server := pgserver.Start(b)
	for _, url := range []string{server.URL, pgbouncer.Start(b, server.URL, pgbouncer.Options{Conns: 40})} {
		budget := store.NewBudget(40)
		sites := make([]*store.Store, n)
		for i := range sites {
			s, err := store.OpenPostgres(b.Context(), url, fmt.Sprint("site_", i), store.Options{Budget: budget})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			if sites[i] = s; url == server.URL {
				migrateNotes(b, s)
				if err := insertNote(b, s, "n", "text"); err != nil {
					b.Fatal(err)
				}
			}
		}
		way := map[bool]string{true: "direct", false: "PgBouncer"}[url == server.URL]
		b.Run(way+"/read", func(b *testing.B) {
			together(b, func(int) error {
				_, err := textOf(b.Context(), sites[rand.IntN(n)], "n", 0)
				return err
			})
		})
		b.Run(way+"/write", func(b *testing.B) {
			together(b, func(i int) error { return rewrite(b, sites[rand.IntN(n)], "n", fmt.Sprint(i), false) })
		})
	}
}

// together has 32 goroutines do what is measured.
func together(b *testing.B, do func(i int) error) {
	var next atomic.Int64
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := do(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}
