//go:build unix

package store

import (
	"net"
	"syscall"
)

// quiet reports whether nothing has come on a connection that waits for nothing,
// as it does when the server has ended it. It looks, one system call that takes
// nothing away, and asks past Go's lock of the reading side: after a write that
// took long pgx leaves a goroutine reading until the next answer comes.
func quiet(c net.Conn) bool {
	if outer, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = outer.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	var got error
	if err := raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, got = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK) // sockets of Go do not block
	}); err != nil {
		return false
	}
	return got == syscall.EAGAIN || got == syscall.EWOULDBLOCK || got == syscall.EINTR
}
