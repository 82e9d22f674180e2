//go:build unix

package store

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// slowWrites is a connection on which each write takes so long that pgx begins to
// read beside it, and has the answer before it knows that all is written.
type slowWrites struct{ *net.TCPConn }

func (c slowWrites) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	time.Sleep(50 * time.Millisecond) // pgx waits for 15
	return n, err
}

// Whether a connection is still there is told at once, also while pgx reads from
// it beside: that ends with the next answer, which nobody has asked for.
func TestPostgresQuietWhileRead(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig(postgresToTest(t))
	if err != nil {
		t.Fatal(err)
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok {
			return slowWrites{tcp}, nil
		}
		return c, err
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	var pid int
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	ask := func() bool {
		t.Helper()
		told := make(chan bool, 1)
		go func() { told <- quiet(c.PgConn().Conn()) }()
		select {
		case is := <-told:
			return is
		case <-ctx.Done():
			t.Fatal("it waits for what nobody sends")
			return false
		}
	}
	if !ask() {
		t.Error("a connection that waits for nothing is not quiet")
	}
	if err := c.QueryRow(ctx, "SELECT 1").Scan(new(int)); err != nil {
		t.Errorf("looking took something away: %v", err)
	}
	killer, err := pgx.Connect(ctx, postgresToTest(t))
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close(ctx)
	if _, err := killer.Exec(ctx, "SELECT pg_terminate_backend($1)", pid); err != nil {
		t.Fatal(err)
	}
	for ask() { // until the end has arrived
		if ctx.Err() != nil {
			t.Fatal("a connection that was ended is quiet")
		}
	}
}
