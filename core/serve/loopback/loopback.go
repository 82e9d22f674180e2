// Package loopback finds addresses for the servers that tests start.
package loopback

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Free is an address on loopback that nobody listens on, below those that the system
// gives to connections: one of these may be taken again by the time the server listens.
func Free(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.N(10_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("there is no free port")
	return ""
}
