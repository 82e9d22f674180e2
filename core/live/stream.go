package live

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"armature/core/account"
	"armature/core/fault"
	"armature/core/identity"
)

// streamSize is what an open stream takes of memory beside what waits to be sent:
// its goroutine, its connection, what it asked for.
const streamSize = 16 << 10

// Retry is when a client comes again whose stream has ended, in milliseconds.
const Retry = 2000

// Sink is the connection of a stream.
type Sink interface {
	// Write sends some of the answer, and returns when the connection has taken it or
	// an error when it does not in time.
	Write(b []byte) error
	// Close ends the connection.
	Close()
}

// Stream is a connection over which changes are told.
type Stream struct {
	service *Service
	caller  *identity.Caller // of the pump
	request *http.Request    // credentials, to be looked at again
	creds   string           // what in it says who asks
	members []*member        // of the pump
	memory  account.Call
	holder  string // who has the stream, for bounds
	release func() // gives the site back
	again   func(ctx context.Context, r *http.Request) (*identity.Caller, error)
	resume  string // Last-Event-ID

	mu      sync.Mutex
	sink    Sink // nil: it has not begun
	pending []byte
	held    int64 // bytes of pending that are charged
	gapped  bool  // something was lost: the client has to read anew
	writing bool
	written *sync.Cond // writing has ended
	ending  bool       // nothing comes any more: close once pending was sent
	closed  bool
	done    chan struct{} // closed when the stream has ended
	sent    time.Time
}

// Begin has the stream send to a connection, to which nothing but the head of the
// answer was sent. The stream has it from then on.
func (st *Stream) Begin(sink Sink) {
	st.mu.Lock()
	st.sink = sink
	closed := st.closed
	st.mu.Unlock()
	if closed {
		sink.Close()
		return
	}
	st.flush()
}

// Done is closed when the stream has ended.
func (st *Stream) Done() <-chan struct{} { return st.done }

// Wait waits until nobody writes to the connection any more.
func (st *Stream) Wait() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for st.writing {
		st.written.Wait()
	}
}

// Lost tells that the client has left.
func (st *Stream) Lost() { st.close() }

// send appends an event to what waits. Where there is too much the client is told that
// it has missed something, once it reads again.
func (st *Stream) send(event []byte, counts bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed || st.ending || st.gapped {
		return
	}
	n := int64(len(event))
	if len(st.pending)+len(event) > st.service.c.Process.c.Buffer || !st.memory.Try(account.Stream, n) {
		st.gapped = true
		return
	}
	st.held += n
	st.pending = append(st.pending, event...)
	if counts {
		st.service.c.Process.events.Add(1)
	}
}

// mark ends a round of events with the position to resume from, if there were any, or
// always.
func (st *Stream) mark(id string, always bool) {
	if always || st.waits() {
		st.send([]byte("id: "+id+"\n\n"), false)
		st.flush()
	}
}

// waits reports whether something waits to be sent.
func (st *Stream) waits() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return (len(st.pending) > 0 || st.gapped) && !st.ending
}

// idle reports whether nothing was sent for so long.
func (st *Stream) idle(now time.Time, d time.Duration) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return !st.writing && now.Sub(st.sent) >= d
}

// end tells the client why nothing comes any more, and closes the stream.
func (st *Stream) end(why *fault.Error) {
	event := []byte("retry: " + strconv.Itoa(Retry) + "\n\n")
	if why != nil {
		event = append(event, "event: end\ndata: {\"exc_type\":"...)
		event = append(append(event, quote(why.ExcType())...), `,"message":`...)
		event = append(append(event, quote(why.Message)...), "}\n\n"...)
	}
	st.mu.Lock()
	if st.closed || st.ending {
		st.mu.Unlock()
		return
	}
	st.pending = append(st.pending, event...)
	st.ending = true
	begun := st.sink != nil
	st.mu.Unlock()
	if begun {
		st.flush()
	}
}

// flush has somebody write what waits.
func (st *Stream) flush() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.writing || st.closed || st.sink == nil || len(st.pending) == 0 && !st.gapped && !st.ending {
		return
	}
	st.writing = true
	go st.write()
}

// write sends what waits until there is nothing left. One goroutine does at a time, and
// none while there is nothing to send.
func (st *Stream) write() {
	for {
		st.mu.Lock()
		b, held, gapped := st.pending, st.held, st.gapped
		st.pending, st.held = nil, 0
		if len(b) == 0 && !gapped || st.closed {
			st.writing = false
			st.written.Broadcast()
			ends := st.ending && !st.closed
			st.mu.Unlock()
			if ends {
				st.close()
			}
			return
		}
		if gapped && !st.ending {
			// What comes from here on is complete again, and the client reads anew what was before.
			st.gapped = false
			b = append(b, "event: gap\ndata: {}\n\n"...)
			st.service.c.Process.gaps.Add(1)
		}
		sink := st.sink
		st.mu.Unlock()
		err := sink.Write(b)
		st.memory.Give(account.Stream, held)
		st.mu.Lock()
		st.sent = time.Now()
		st.mu.Unlock()
		if err != nil {
			st.close()
		}
	}
}

// close ends the stream at once.
func (st *Stream) close() {
	st.mu.Lock()
	if st.closed {
		st.mu.Unlock()
		return
	}
	st.closed, st.pending = true, nil
	sink := st.sink
	st.mu.Unlock()
	st.memory.End()
	st.service.left(st)
	if sink != nil {
		sink.Close()
	}
	close(st.done)
	if st.release != nil {
		go st.release() // who gives the site back last closes it, and waits for the pump, which may be here
	}
}

// over reports whether the stream has ended, or is about to.
func (st *Stream) over() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.closed || st.ending
}

// Request is what a stream is opened with.
type Request struct {
	Caller    *identity.Caller
	HTTP      *http.Request         // as it came; its credentials are looked at again
	Arguments func(name string) any // of the request
	Account   *account.Account      // nil: nobody keeps one
	Address   string                // of the client
	Again     func(ctx context.Context, r *http.Request) (*identity.Caller, error)
	Release   func() // called once, when the stream has ended
}
