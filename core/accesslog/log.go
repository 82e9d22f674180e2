// Package accesslog writes a line for every request, in the words of log/slog:
// who reads the server's log finds one format. It is written by hand because a
// line costs a noticeable part of a small request: a quarter of what slog takes,
// and one write for many lines.
package accesslog

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What is written late: at most so many bytes, for at most so long. A server
// that is killed loses as much of this log; nothing else of it is late.
const (
	maxLate   = 32 << 10
	flushTime = 100 * time.Millisecond
)

// Format is how a line looks.
type Format int

// The formats of slog's handlers.
const (
	Text Format = iota
	JSON
)

// Entry is a request that has been answered.
type Entry struct {
	Time       time.Time // when it had been
	ID         string    // the answer's X-Request-Id
	Site       string    // empty: no site answers it
	User       string
	From       string // the client's address
	Method     string
	Path       string // without the query, which may carry a secret
	Status     int
	Bytes      int64         // of the answer's body
	Took       time.Duration // until it had been answered
	Processing time.Duration // until its answer began
	Client     string        // the OAuth client, if it came from one
}

// Log writes entries to a writer that others write to as well, through Beside.
// All methods may be called at any time by anybody.
type Log struct {
	off    atomic.Bool
	format Format

	mu     sync.Mutex
	w      io.Writer
	late   []byte
	timer  *time.Timer // runs while something is late
	closed bool
}

// New makes a log that writes to w.
func New(w io.Writer, f Format) *Log {
	return &Log{w: w, format: f}
}

// Enable turns the log on, as it is at first, or off.
func (l *Log) Enable(on bool) { l.off.Store(!on) }

// Enabled reports whether entries are written.
func (l *Log) Enabled() bool { return !l.off.Load() }

// Write writes an entry, perhaps a little later. That it cannot be written is no
// reason to end a request, and there is no other log to tell.
func (l *Log) Write(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.format == JSON {
		l.late = appendJSON(l.late, e)
	} else {
		l.late = appendText(l.late, e)
	}
	switch {
	case l.closed || len(l.late) >= maxLate:
		_ = l.flush()
	case l.timer == nil:
		l.timer = time.AfterFunc(flushTime, l.Flush)
	}
}

// Flush writes what is late.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.flush()
}

// flush needs the lock.
func (l *Log) flush() error {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.late) == 0 {
		return nil
	}
	_, err := l.w.Write(l.late)
	l.late = l.late[:0]
	return err
}

// Close writes what is late. Entries that come after it are not late.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.flush()
}

// Beside is the writer for those who write to the same place: their lines come
// at once, after the entries before them.
func (l *Log) Beside() io.Writer { return beside{l} }

type beside struct{ log *Log }

func (b beside) Write(p []byte) (int, error) {
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	if err := b.log.flush(); err != nil {
		return 0, err
	}
	return b.log.w.Write(p)
}
