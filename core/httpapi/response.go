package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// response is the answer on its way out: it notes what was sent, and runs what
// must happen just before the first byte.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
	paced  bool      // a long answer that comes in small parts
	x      *exchange // told just before the first byte
}

// WriteHeader sends the status and the headers.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin does what must happen before the first byte, whoever sends it.
func (w *response) begin(status int) {
	w.status = status
	w.x.light() // whoever reads slowly keeps no processor busy
	w.x.work.Give()
	w.x.charge(status, w.Header())
	w.x.renewSession(w.Header())
}

// Write sends a part of the body.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.send(b)
	w.bytes += int64(n)
	return n, err
}

// How slowly a client may take an answer that is held in memory: each part within a
// time of its own, and all of it within what the server allows any answer.
const (
	partSize = 256 << 10
	partTime = 30 * time.Second
)

// send writes to the connection. Who takes a long answer too slowly, or not at all,
// loses the connection: the answer is in memory as long as it is sent.
func (w *response) send(b []byte) (n int, err error) {
	if len(b) <= partSize && !w.paced {
		return w.ResponseWriter.Write(b)
	}
	control := http.NewResponseController(w.ResponseWriter)
	until := w.x.arrived.Add(answerTime)
	for len(b) > 0 && err == nil {
		due := time.Now().Add(partTime)
		if due.After(until) {
			due = until
		}
		// Not every writer has a connection: those of tests have none, and no deadline.
		_ = control.SetWriteDeadline(due)
		var sent int
		sent, err = w.ResponseWriter.Write(b[:min(len(b), partSize)])
		n, b = n+sent, b[sent:]
	}
	return n, err
}

// ReadFrom sends what src holds, by the connection's own means where it has
// them: a file goes out without passing through the process.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// begun reports whether the status is on its way and cannot be changed.
func (w *response) begun() bool { return w.status != 0 }

// kept reports whether somebody may keep an answer for others, such as a public file.
func kept(cacheControl string) bool {
	return !strings.Contains(cacheControl, "no-store") && !strings.Contains(cacheControl, "private")
}

// renewSession prolongs the session's cookie. An answer that somebody may keep for
// others must not carry it.
func (x *exchange) renewSession(h http.Header) {
	if x.site != nil && x.site.RenewSession != nil && !kept(h.Get("Cache-Control")) {
		x.site.RenewSession(x.ctx, h)
	}
}

// setAPIHeaders are those of every answer under /api (reference section 0.4).
func setAPIHeaders(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
}

var (
	noStore  = []string{"no-store,no-cache,must-revalidate,max-age=0"}
	noSniff  = []string{"nosniff"}
	jsonType = []string{"application/json"}
)

// sendJSON answers with a complete JSON body.
func (x *exchange) sendJSON(status int, body []byte) error {
	h := x.w.Header()
	setAPIHeaders(h)
	if x.caller.Expired && x.route.kind != description { // whose form is not ours to extend
		body = appendExpired(body)
	}
	h["Content-Type"] = jsonType
	if status == http.StatusOK && x.known(body) {
		x.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	x.sendBody(status, body)
	return nil
}

// appendExpired adds to an answer, a JSON object, that the session sent along has
// ended (reference section 5.4).
func appendExpired(body []byte) []byte {
	rest := bytes.TrimSuffix(body, []byte("}"))
	if len(rest) > 1 {
		rest = append(rest, ',')
	}
	return append(rest, `"session_expired":1}`...)
}

func (x *exchange) sendEmpty(status int) {
	setAPIHeaders(x.w.Header())
	x.w.Header().Set("Content-Length", "0")
	x.w.WriteHeader(status)
}

// buffer is a reusable space in which an answer is put together.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, 4<<10)} }}

func newBuffer() *buffer {
	buf := buffers.Get().(*buffer)
	buf.b = buf.b[:0]
	return buf
}

// free gives the space back, unless one large answer has made it too big to
// keep.
func (b *buffer) free() {
	if cap(b.b) <= 1<<20 {
		buffers.Put(b)
	}
}
