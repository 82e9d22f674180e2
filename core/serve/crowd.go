package serve

import (
	"net"
	"net/http"
	"sync"
)

// crowd counts connections, and has those closed that do nothing while there are many:
// places for others are worth more than a handshake.
type crowd struct {
	most int
	keep func(idle bool) // whether connections may stay open without a request

	mu      sync.Mutex
	open    int
	crowded bool
}

func newCrowd(most int, keep func(idle bool)) *crowd { return &crowd{most: most, keep: keep} }

// changed is a http.Server's ConnState.
func (c *crowd) changed(_ net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
	case http.StateClosed, http.StateHijacked:
		c.open--
	default:
		return
	}
	switch {
	case !c.crowded && c.open > c.most/2:
		c.crowded = true
		c.keep(false)
	case c.crowded && c.open < c.most/4:
		c.crowded = false
		c.keep(true)
	}
}
