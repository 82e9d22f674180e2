package main_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/core/store/pgbouncer"
	"armature/core/store/pgserver"
)

// synchronous makes a server that follows p, and has every commit of p wait for it.
func synchronous(t *testing.T, p *pgserver.Server) *pgserver.Server {
	t.Helper()
	s := p.Standby(t)
	p.SQL(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.SQL(t, "SELECT pg_reload_conf()")
	armaturetest.Eventually(t, "commits wait for the standby", func() bool {
		return p.SQL(t, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	return s
}

// eitherHost is the URL of whichever of two servers can be written to.
func eitherHost(t *testing.T, one, two string) string {
	t.Helper()
	first, err := url.Parse(one)
	if err != nil {
		t.Fatal(err)
	}
	second, err := url.Parse(two)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("postgres://armature@%s,%s/armature?sslmode=disable&target_session_attrs=read-write", first.Host, second.Host)
}

// TestFailover: the primary is lost under load and its synchronous standby promoted. The
// server, which knows both, writes on without being started again, and nothing that it
// has acknowledged is lost; the same behind a pooler before each of them.
func TestFailover(t *testing.T) {
	for name, reached := range map[string]func(t *testing.T, database string) string{
		"direct": func(_ *testing.T, database string) string { return database },
		"PgBouncer": func(t *testing.T, database string) string {
			return pgbouncer.Start(t, database, pgbouncer.Options{Patience: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			const writers = 4
			primary := pgserver.Start(t)
			second := synchronous(t, primary)
			in := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: eitherHost(t, reached(t, primary.URL), reached(t, second.URL))}
			s := in.Serve("--log-level", "error")
			s.Auth = in.Keys("Administrator")
			own := prepareOrders(s, writers)
			l := newLedger()
			stop, work := make(chan struct{}), sync.WaitGroup{}
			for _, w := range own {
				work.Go(func() { l.write(stop, func() string { return s.URL }, s.Auth, w, 0) })
			}
			armaturetest.Eventually(t, "the writers are at it", func() bool { return l.acks.Load() >= 100 })
			primary.Stop(t)
			lost := time.Now()
			second.Promote(t)
			at := l.acks.Load() // those of the old one are all in by now
			armaturetest.Eventually(t, "it writes to the other one", func() bool { return l.acks.Load() > at+20 })
			t.Logf("20 writes %s after the primary was lost", time.Since(lost).Round(time.Millisecond))
			close(stop)
			work.Wait()
			l.check(t, s, own)
		})
	}
}
