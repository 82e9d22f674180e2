//go:build unix

package store

import (
	"net"
	"syscall"
)

// quiet reports whether nothing has come on a connection that waits for nothing,
// as it does when the server has ended it. It asks the kernel, one system call, and
// sends nothing.
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
	if err := raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, got = syscall.Read(int(fd), one[:]) // sockets of Go do not block
		return true
	}); err != nil {
		return false
	}
	return got == syscall.EAGAIN || got == syscall.EWOULDBLOCK || got == syscall.EINTR
}
