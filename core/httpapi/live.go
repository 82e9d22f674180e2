package httpapi

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"armature/core/identity"
	"armature/core/live"
)

// live serves GET /api/live: a stream of what changes. The request ends when the
// stream begins: it takes no place among those that are worked on, and the time for
// which it is open is nobody's processing time.
func (x *exchange) live() (func() error, error) {
	switch {
	case x.site.Live == nil:
		return nil, errNoRoute
	case x.r.Method != http.MethodGet: // HEAD has no stream
		return nil, x.wrongVerb("GET, OPTIONS")
	}
	return x.openStream, nil
}

func (x *exchange) openStream() error {
	if err := x.readArguments(); err != nil {
		return err
	}
	site := x.site
	st, err := site.Live.Open(x.ctx, live.Request{
		Caller: x.caller, HTTP: x.r, Arguments: x.args.Get, Account: x.server.account, Address: x.r.RemoteAddr, Release: x.release,
		Again: func(ctx context.Context, r *http.Request) (*identity.Caller, error) {
			if site.Begin != nil {
				ctx = site.Begin(ctx, r)
			}
			return site.Authenticate(ctx, r, func(string) any { return nil })
		},
	})
	if err != nil {
		return err
	}
	x.release, x.stream = nil, st // which gives the site back
	h := x.w.Header()
	setAPIHeaders(h)
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would wait for more
	x.w.begin(http.StatusOK)
	return nil
}

// streamWrite is how long a connection may take to take some of a stream, before it is
// closed.
const streamWrite = 30 * time.Second

// pour begins the stream that the exchange has opened, once the exchange has ended. A
// connection of HTTP/1 is taken from the server: a stream that is silent costs no more
// than what notices that the client has left.
func (x *exchange) pour() {
	if x.stream == nil {
		return
	}
	conn, _, err := http.NewResponseController(x.w.ResponseWriter).Hijack()
	if err != nil {
		x.pourHere()
		return
	}
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	h := x.w.Header()
	h.Set("Connection", "close") // the end of the stream is that of the connection
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	_ = h.Write(&head) // a buffer takes everything
	head.WriteString("\r\n")
	sink := connSink{conn}
	if sink.Write(head.Bytes()) != nil {
		x.stream.Lost()
		return
	}
	x.stream.Begin(sink)
	go waitForEnd(conn, x.stream)
}

// waitForEnd notices that a client has left. It is all that runs for a silent stream.
func waitForEnd(conn net.Conn, st *live.Stream) {
	var b [16]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			st.Lost()
			return
		}
	}
}

// connSink is a connection that was taken from the server.
type connSink struct{ net.Conn }

func (s connSink) Write(b []byte) error {
	if err := s.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return err
	}
	_, err := s.Conn.Write(b)
	return err
}

func (s connSink) Close() { _ = s.Conn.Close() } // nobody can be told

// pourHere is pour where the connection is shared with other requests: HTTP/2.
func (x *exchange) pourHere() {
	control := http.NewResponseController(x.w.ResponseWriter)
	_ = control.SetReadDeadline(time.Time{}) // those of tests have none
	x.w.ResponseWriter.WriteHeader(http.StatusOK)
	x.stream.Begin(writerSink{x.w.ResponseWriter, control})
	select {
	case <-x.stream.Done():
	case <-x.r.Context().Done():
		x.stream.Lost()
	}
	x.stream.Wait()
}

type writerSink struct {
	io.Writer
	control *http.ResponseController
}

func (s writerSink) Write(b []byte) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(streamWrite)) // those of tests have none
	if _, err := s.Writer.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}

func (writerSink) Close() {}
