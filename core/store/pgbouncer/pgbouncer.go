// Package pgbouncer stands a PgBouncer before PostgreSQL in a test.
package pgbouncer

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/core/serve/loopback"
	"armature/core/store/pgserver"
)

// Options say how it pools; the zero value is in transaction mode, with 20 connections.
type Options struct {
	Mode  string // session, transaction
	Conns int    // to the server, at most

	// Patience is how many seconds a client waits for a connection to the server before it
	// is told that there is none, and may ask another pooler; 0: two minutes.
	Patience int

	Password string // of everybody who connects; empty: nobody is asked for one

	// Ignore are parameters of connections that it takes and leaves out, where it
	// would refuse the connection.
	Ignore []string
}

// Start runs a PgBouncer on loopback until the test ends and returns the URL of the
// database through it. Without the program the test is skipped, except on a build
// machine, where everything must be there.
func Start(t testing.TB, database string, o Options) string {
	t.Helper()
	program, err := find()
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("there is no pgbouncer, and CI is true")
	}
	if err != nil {
		t.Skip("there is no pgbouncer: apt install pgbouncer")
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	address := loopback.Free(t)
	dir, err := os.MkdirTemp("", "pgbouncer-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(o.config(u, address, dir)), 0o644); err != nil {
		t.Fatal(err)
	}
	users := fmt.Sprintf("%q %q\n", u.User.Username(), o.Password)
	if err := os.WriteFile(filepath.Join(dir, "users"), []byte(users), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, file)
	cmd.Dir, cmd.Stderr = "/", &said
	pgserver.AsNobody(cmd)
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // ends by stop
	}()
	t.Cleanup(func() { stop(); <-ended })
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			break
		}
		select {
		case <-ended:
			t.Fatalf("pgbouncer has ended: %s", said.String())
		case <-t.Context().Done():
			t.Fatal("pgbouncer does not begin")
		case <-time.After(10 * time.Millisecond):
		}
	}
	u.Host = address
	return u.String()
}

func find() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/pgbouncer") // which is not in everybody's PATH
}

func (o Options) config(server *url.URL, address, dir string) string {
	if o.Mode == "" {
		o.Mode = "transaction"
	}
	if o.Conns == 0 {
		o.Conns = 20
	}
	host, port, _ := net.SplitHostPort(address)
	var b strings.Builder
	fmt.Fprintf(&b, "[databases]\n* = host=%s port=%s user=%s\n", server.Hostname(), server.Port(), server.User.Username())
	fmt.Fprintf(&b, "[pgbouncer]\nlisten_addr = %s\nlisten_port = %s\nunix_socket_dir =\n", host, port)
	if o.Password == "" {
		b.WriteString("auth_type = any\n")
	} else {
		fmt.Fprintf(&b, "auth_type = plain\nauth_file = %s\n", filepath.Join(dir, "users"))
	}
	fmt.Fprintf(&b, "pool_mode = %s\ndefault_pool_size = %d\nmax_client_conn = 2000\n", o.Mode, o.Conns)
	if o.Patience > 0 {
		fmt.Fprintf(&b, "query_wait_timeout = %d\nserver_login_retry = 1\n", o.Patience)
	}
	if len(o.Ignore) > 0 {
		fmt.Fprintf(&b, "ignore_startup_parameters = %s\n", strings.Join(o.Ignore, ", "))
	}
	return b.String()
}
