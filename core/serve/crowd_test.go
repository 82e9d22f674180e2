package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"armature/core/serve"
)

// connect opens a connection and sends something on it.
func connect(t *testing.T, s *running, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprint(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

const whole = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// answered waits for the answer of a connection.
func answered(t *testing.T, conn net.Conn) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%d, %v", res.StatusCode, err)
	}
}

// TestConnectionsAreBounded: who comes when there are as many as may be waits for one
// that goes.
func TestConnectionsAreBounded(t *testing.T) {
	s := start(t, serve.Config{MaxConns: 3}, hello)
	var half []net.Conn
	for range 3 {
		half = append(half, connect(t, s, "GET / HTTP/1.1\r\n"))
	}
	late := connect(t, s, whole)
	_ = late.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := late.Read(make([]byte, 1)); err == nil {
		t.Errorf("it is answered beside the others: %d bytes", n)
	}
	_ = late.SetReadDeadline(time.Time{})
	half[1].Close()
	answered(t, late)
}

// TestIdleConnectionsMakeRoom: while there are many connections, those that do nothing
// are closed.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	s := start(t, serve.Config{MaxConns: 8}, hello)
	idle := connect(t, s, whole)
	answered(t, idle)
	for range 4 {
		connect(t, s, "GET / HTTP/1.1\r\n")
	}
	_ = idle.SetReadDeadline(time.Now().Add(2 * time.Minute)) // only ever waited for by a failure
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the idle one: %v", err)
	}
}

// TestLongHead: a head that is longer than any client needs is refused.
func TestLongHead(t *testing.T) {
	s := start(t, serve.Config{}, hello)
	conn := connect(t, s, "GET / HTTP/1.1\r\nHost: a\r\nX-Long: "+string(make([]byte, 40<<10)))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%v, %v", res, err)
	}
}
