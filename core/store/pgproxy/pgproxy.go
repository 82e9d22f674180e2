// Package pgproxy stands between a server and PostgreSQL and spoils what they tell
// each other: it loses races that nobody ran, cuts connections around a commit, and
// weakens transactions. It is for tests of what must hold all the same. It speaks
// as much of PostgreSQL's protocol (version 3, chapter "Frontend/Backend Protocol"
// of its manual) as that takes, without TLS.
package pgproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
)

// Fate is what becomes of a commit.
type Fate int32

const (
	Pass   Fate = iota // it goes through
	Lose               // it is rolled back, and answered as a serialization failure
	Before             // the connection breaks before the server has heard of it
	After              // the connection breaks once the server has committed
)

// Faults say what is spoiled. They are asked by many goroutines.
type Faults struct {
	// Commit decides about each COMMIT; nil: all pass.
	Commit func() Fate
	// Rewrite returns what is run in place of a statement sent without arguments;
	// nil: all stay.
	Rewrite func(statement string) string
}

// Proxy listens on an address of its own.
type Proxy struct {
	URL string // of the database, through the proxy

	faults   Faults
	target   string
	listener net.Listener
	mu       sync.Mutex
	open     map[net.Conn]bool
	closed   bool
	running  sync.WaitGroup
}

// Listen stands before the server that a URL names.
func Listen(database string, faults Faults) (*Proxy, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{faults: faults, target: u.Host, listener: l, open: map[net.Conn]bool{}}
	u.Host = l.Addr().String()
	p.URL = u.String()
	p.running.Go(p.accept)
	return p, nil
}

// Cut breaks all connections; new ones may be made.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
}

// Close ends everything and waits for it.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil || !p.keep(client, server) {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			continue
		}
		l := &link{p: p, client: client, server: server}
		p.running.Go(func() { l.end(l.forward()) })
		p.running.Go(func() { l.end(l.backward()) })
	}
}

func (p *Proxy) keep(cs ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range cs {
		p.open[c] = true
	}
	return !p.closed
}

// link is one connection through the proxy.
type link struct {
	p              *Proxy
	client, server net.Conn
	fate           atomic.Int32 // of the commit under way
}

func (l *link) end(error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for _, c := range []net.Conn{l.client, l.server} {
		_ = c.Close()
		delete(l.p.open, c)
	}
}

var errCut = errors.New("the connection is cut")

// forward carries what the client says.
func (l *link) forward() error {
	if err := l.greet(); err != nil {
		return err
	}
	for {
		kind, body, err := read(l.client)
		if err != nil {
			return err
		}
		if kind == 'Q' {
			if body, err = l.statement(body); err != nil {
				return err
			}
		}
		if err := write(l.server, kind, body); err != nil {
			return err
		}
	}
}

// greet carries the first message, which has no kind. A client that asks for TLS
// is told that there is none.
func (l *link) greet() error {
	const wantsTLS = 80877103
	for {
		var length [4]byte
		if _, err := io.ReadFull(l.client, length[:]); err != nil {
			return err
		}
		body, err := rest(l.client, length)
		if err != nil {
			return err
		}
		if len(body) == 4 && binary.BigEndian.Uint32(body) == wantsTLS {
			if _, err := l.client.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		}
		_, err = l.server.Write(append(length[:], body...))
		return err
	}
}

// statement decides about a statement of the simple protocol.
func (l *link) statement(body []byte) ([]byte, error) {
	text := string(bytes.TrimSuffix(body, []byte{0}))
	if text == "COMMIT" && l.p.faults.Commit != nil {
		fate := l.p.faults.Commit()
		l.fate.Store(int32(fate))
		switch fate {
		case Before:
			return nil, errCut
		case Lose:
			text = "ROLLBACK"
		}
	} else if l.p.faults.Rewrite != nil {
		text = l.p.faults.Rewrite(text)
	}
	return append([]byte(text), 0), nil
}

// backward carries what the server says.
func (l *link) backward() error {
	for {
		kind, body, err := read(l.server)
		if err != nil {
			return err
		}
		if kind == 'C' {
			switch Fate(l.fate.Swap(int32(Pass))) {
			case After:
				return errCut
			case Lose:
				kind, body = 'E', []byte("SERROR\x00VERROR\x00C40001\x00Mcould not serialize access, says the proxy\x00\x00")
			}
		}
		if err := write(l.client, kind, body); err != nil {
			return err
		}
	}
}

func read(c net.Conn) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err = io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	body, err = rest(c, [4]byte(head[1:]))
	return head[0], body, err
}

func rest(c net.Conn, length [4]byte) ([]byte, error) {
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > 1<<28 {
		return nil, errors.New("this is not PostgreSQL's protocol")
	}
	body := make([]byte, n-4)
	_, err := io.ReadFull(c, body)
	return body, err
}

func write(c net.Conn, kind byte, body []byte) error {
	m := make([]byte, 0, 5+len(body))
	m = append(m, kind)
	m = binary.BigEndian.AppendUint32(m, uint32(len(body)+4))
	_, err := c.Write(append(m, body...))
	return err
}
