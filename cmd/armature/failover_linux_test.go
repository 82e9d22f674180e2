package main_test

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/core/store/pgbouncer"
)

// standby makes a server that follows p, and has every commit of p wait for it.
func (p *privatePostgres) standby(t *testing.T) *privatePostgres {
	t.Helper()
	s := &privatePostgres{bin: p.bin, dir: filepath.Join(p.dir, "standby")}
	u, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	p.run(t, "pg_basebackup", "-h", u.Hostname(), "-p", u.Port(), "-U", "armature", "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	host, port, _ := net.SplitHostPort(freeAddress(t))
	s.run(t, "pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log"), "start", "-o",
		fmt.Sprintf("-c listen_addresses=%s -c port=%s -c unix_socket_directories=%s -c max_connections=100", host, port, s.dir))
	t.Cleanup(func() { s.stop(t) })
	s.url = "postgres://armature@" + net.JoinHostPort(host, port) + "/armature?sslmode=disable"

	db, err := sql.Open("pgx", p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	armaturetest.Eventually(t, "commits wait for the standby", func() bool {
		var n int
		return db.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n) == nil && n == 1
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
			primary := startPostgres(t)
			second := primary.standby(t)
			in := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: eitherHost(t, reached(t, primary.url), reached(t, second.url))}
			s := in.Serve("--log-level", "error")
			s.Auth = in.Keys("Administrator")
			own := prepareOrders(s, writers)
			l := newLedger()
			stop, work := make(chan struct{}), sync.WaitGroup{}
			for _, w := range own {
				work.Go(func() { l.write(stop, func() string { return s.URL }, s.Auth, w, 0) })
			}
			armaturetest.Eventually(t, "the writers are at it", func() bool { return l.acks.Load() >= 100 })
			primary.stop(t)
			lost := time.Now()
			second.run(t, "pg_ctl", "-D", second.data(), "-w", "promote")
			at := l.acks.Load() // those of the old one are all in by now
			armaturetest.Eventually(t, "it writes to the other one", func() bool { return l.acks.Load() > at+20 })
			t.Logf("20 writes %s after the primary was lost", time.Since(lost).Round(time.Millisecond))
			close(stop)
			work.Wait()
			l.check(t, s, own)
		})
	}
}
