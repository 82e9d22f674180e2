package live

import (
	"context"
	"errors"
	"hash/crc32"
	"hash/maphash"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"armature/core/account"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
)

// Log is the log of changes of a site's database. *store.Store satisfies it.
type Log interface {
	// Follow has changes logged until a time.
	Follow(ctx context.Context, until time.Time) error
	// Changes returns what was committed since a position; with the empty one nothing,
	// and where it is now.
	Changes(ctx context.Context, after document.Position) (document.Changes, error)
	// ValidPosition reports whether Changes takes a position that a client brought back.
	ValidPosition(p document.Position) bool
	// SweepChanges forgets what was logged before a time.
	SweepChanges(ctx context.Context, before time.Time) error
	// OnChange has fn called after a commit of this process, or of another one that it
	// is told of; fn does not wait.
	OnChange(fn func()) (cancel func())
}

// Config is what a Service needs.
type Config struct {
	Site    string
	Lineage string // of its database: positions of another one are none
	Process *Process
	Log     Log
	Store   document.Store

	Documents func() *document.Service
	Methods   func() *method.Service

	Refresh func(ctx context.Context)     // takes over DocTypes that have changed
	Forget  func()                        // what is known of credentials is old
	Retired func() bool                   // the site is to be closed; nil: it never is
	Most    func() (site int64, user int) // streams it may have in this process; 0: any number
	Logger  *slog.Logger                  // nil: nothing is logged
}

// Service is the streams of one site. While there are none it has no goroutine.
type Service struct {
	c    Config
	sums sums

	mu      sync.Mutex
	streams map[*Stream]struct{}
	users   map[string]int
	joins   []*join
	gone    []*Stream
	closed  bool
	pump    *pump // nil: none runs
	wake    chan struct{}
}

// join is a stream that waits to be told of changes.
type join struct {
	stream *Stream
	asked  []asked
	err    error
	done   chan struct{}
}

// New makes the streams of a site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Retired == nil {
		c.Retired = func() bool { return false }
	}
	s := &Service{c: c, sums: sums{maphash.MakeSeed()}, streams: map[*Stream]struct{}{}, users: map[string]int{}, wake: make(chan struct{}, 1)}
	c.Process.add(s)
	return s
}

// Close ends all streams and what serves them.
func (s *Service) Close() {
	s.c.Process.remove(s)
	s.mu.Lock()
	s.closed = true
	p := s.pump
	s.mu.Unlock()
	s.endAll()
	if p != nil {
		p.stop()
		<-p.done
	}
}

// endAll ends the streams there are.
func (s *Service) endAll() {
	for _, st := range s.all() {
		st.end(nil)
	}
}

func (s *Service) all() []*Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Stream, 0, len(s.streams))
	for st := range s.streams {
		list = append(list, st)
	}
	return list
}

// Open opens a stream, which tells what changes from now on, or from where the client
// was (Last-Event-ID). It takes over r.Release. Errors are faults: those of reading
// what it asks for, Validation for what cannot be followed, and where there are as many
// streams as there may be, TooManyRequests or Unavailable.
func (s *Service) Open(ctx context.Context, r Request) (*Stream, error) {
	list, err := parse(r.Arguments)
	if err != nil {
		return nil, err
	}
	st := &Stream{
		service: s, caller: r.Caller, request: credentials(r.HTTP),
		done: make(chan struct{}), sent: time.Now(), resume: lastEventID(r),
	}
	st.creds = strings.Join(append(slices.Clone(st.request.Header["Authorization"]), st.request.Header["Cookie"]...), "\x00")
	st.again, st.written = r.Again, sync.NewCond(&st.mu)
	if st.holder = r.Caller.User; r.Caller.IsGuest() {
		st.holder = r.Address
		if host, _, err := net.SplitHostPort(r.Address); err == nil {
			st.holder = host
		}
	}
	r.Account.Begin(&st.memory, s.c.Site, account.ConnectionOf(ctx), r.Caller.IsGuest())
	if err := st.memory.Take(ctx, account.Stream, streamSize); err != nil {
		return nil, err
	}
	if err := s.enter(st); err != nil {
		st.memory.End()
		return nil, err
	}
	j := &join{stream: st, asked: list, done: make(chan struct{})}
	if err := s.join(j); err != nil {
		st.close()
		return nil, err
	}
	select {
	case <-j.done:
		err = j.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		st.close()
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return nil, fault.New(fault.Unavailable, "", "The stream has ended")
	}
	st.release = r.Release
	return st, nil
}

// Count is how many streams are open; none of a site that has no Service.
func (s *Service) Count() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.streams))
}

// enter counts a stream.
func (s *Service) enter(st *Stream) error {
	if err := s.c.Process.admit(); err != nil {
		return err
	}
	most, each := int64(0), 0
	if s.c.Most != nil {
		most, each = s.c.Most()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := error(nil)
	switch {
	case s.closed:
		err = fault.New(fault.Unavailable, "", "The site is being closed")
	case most > 0 && int64(len(s.streams)) >= most:
		err = tooMany(fault.QuotaExceeded, "This site may have %d streams at a time, and has them", most)
	case each > 0 && s.users[st.holder] >= each:
		err = tooMany("", "You may have %d streams at a time, and have them", int64(each))
	}
	if err != nil {
		s.c.Process.open.Add(-1)
		s.c.Process.refused.Add(1)
		return err
	}
	s.streams[st] = struct{}{}
	s.users[st.holder]++
	return nil
}

// tooMany is the refusal of one stream more.
func tooMany(excType, format string, n int64) error {
	return fault.Wrap(fault.TooManyRequests, excType, later{}, format, n)
}

// later tells the client when to come back.
type later struct{}

func (later) Error() string { return "too many streams" }

// SetHeaders sets Retry-After.
func (later) SetHeaders(h http.Header) { h.Set("Retry-After", "10") }

// left forgets a stream that has ended.
func (s *Service) left(st *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.streams[st]; !was {
		return
	}
	delete(s.streams, st)
	if s.users[st.holder]--; s.users[st.holder] <= 0 {
		delete(s.users, st.holder)
	}
	s.gone = append(s.gone, st)
	s.c.Process.open.Add(-1)
}

// join hands a stream to the pump, which is started where none runs.
func (s *Service) join(j *join) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.New(fault.Unavailable, "", "The site is being closed")
	}
	s.joins = append(s.joins, j)
	if s.pump == nil {
		s.pump = newPump(s)
		go s.pump.run()
	}
	s.look()
	return nil
}

// look wakes the pump.
func (s *Service) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// lastEventID is where the client was: the header that browsers send, or an argument
// for who cannot set one.
func lastEventID(r Request) string {
	if id := r.HTTP.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	id, _ := r.Arguments("last_event_id").(string)
	return id
}

// kept are the headers by which it is found out again whom a stream is from.
var kept = []string{"Authorization", "Cookie", "Origin", "Referer", "Sec-Fetch-Site", "User-Agent", "X-Forwarded-For", "X-Forwarded-Proto", "X-Framework-Csrf-Token"}

// credentials is a copy of the request without what is not needed to find out again
// whom it is from.
func credentials(r *http.Request) *http.Request {
	c := &http.Request{Method: r.Method, URL: r.URL, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Host: r.Host, RemoteAddr: r.RemoteAddr, Header: http.Header{}, Body: http.NoBody}
	for _, name := range kept {
		if v := r.Header[name]; v != nil {
			c.Header[name] = v
		}
	}
	return c
}

// sumOf tells whether a client asks for the same with the same rights as before.
func sumOf(members []*member) uint32 {
	h := crc32.NewIEEE()
	for _, m := range members {
		_, _ = h.Write([]byte(m.asked.ID + "\x00" + m.key + "\x00")) // never fails
	}
	return h.Sum32()
}

// denied is an error with which a stream ends, as the client is told.
func denied(err error) *fault.Error {
	var e *fault.Error
	if !errors.As(err, &e) {
		e = fault.From(err)
	}
	return e
}
