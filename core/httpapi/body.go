package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"armature/core/account"
	"armature/core/fault"
)

// How much of a body is read where the site sets nothing else, in bytes, and how
// long it is waited for. Who has shown no credentials costs no more than what a form
// or a webhook needs.
const (
	DefaultMaxBody      = 25 << 20
	DefaultMaxGuestBody = 1 << 20
	guestBodyTime       = 30 * time.Second
	bodyTime            = 5 * time.Minute
	answerTime          = 10 * time.Minute // until the last byte of an answer is taken
)

// limitBody lets no reader of the body past what the caller may send.
func (x *exchange) limitBody() {
	if x.r.Body != nil && x.r.Body != http.NoBody {
		x.whole = x.r.Body
		// A copy: what is to become of an unread rest, the server sees by the body of its
		// own request.
		x.r = x.r.WithContext(x.ctx)
		x.r.Body = &body{ReadCloser: http.MaxBytesReader(x.w.ResponseWriter, x.whole, x.site.maxBody()), x: x}
	}
}

func (s *Tenant) maxBody() int64 {
	if s.MaxBody > 0 {
		return s.MaxBody
	}
	return DefaultMaxBody
}

// maxBody is the most bytes of the body that are read for whoever the request is
// known to be from so far.
func (x *exchange) maxBody() int64 {
	switch {
	case !x.unknown():
		return x.site.maxBody()
	case x.site.MaxGuestBody > 0:
		return min(x.site.MaxGuestBody, x.site.maxBody())
	}
	return min(DefaultMaxGuestBody, x.site.maxBody())
}

// unknown reports whether the request has shown no valid credentials, so far.
func (x *exchange) unknown() bool { return x.caller.IsGuest() && !x.hasSession }

// body is the body of a request, of which more is read once it is known whom it
// is from.
type body struct {
	io.ReadCloser
	x       *exchange
	read    int64
	charged int64 // of what is read, how much the account of memory knows of
	hurried bool  // the rest has to come within guestBodyTime
}

// Read implements io.Reader. Too much is a *http.MaxBytesError, too late a time-out
// of the connection.
func (b *body) Read(p []byte) (int, error) {
	most := b.x.maxBody()
	if b.read > most {
		return 0, &http.MaxBytesError{Limit: most}
	}
	b.hurry(b.x.unknown())
	if left := most - b.read + 1; int64(len(p)) > left {
		p = p[:left]
	}
	if err := b.charge(b.read + int64(len(p))); err != nil {
		return 0, err
	}
	b.x.work.Give() // it waits for the client; who has it all takes one again
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.read > most {
		n, err = n-1, &http.MaxBytesError{Limit: most}
	}
	if err != nil {
		b.hurry(false) // the server goes on looking at the connection while the request is served
	}
	return n, err
}

// charge charges the body up to a length, before it is read, in steps that double:
// who claims to send much and sends little takes little.
func (b *body) charge(to int64) error {
	if to <= freeBody || to <= b.charged || b.x.server.account == nil {
		return nil
	}
	b.charged = max(to, min(2*b.charged, b.x.maxBody()))
	return b.x.memory.Reach(b.x.ctx, account.Body, bodyFactor*b.charged)
}

// hurry sets or takes back the deadline of who has shown no credentials.
func (b *body) hurry(wanted bool) {
	if wanted == b.hurried {
		return
	}
	b.hurried = wanted
	within := bodyTime
	if wanted {
		within = guestBodyTime
	}
	// Not every writer has a connection: those of tests have none, and no deadline.
	_ = http.NewResponseController(b.x.w.ResponseWriter).SetReadDeadline(time.Now().Add(within))
}

// readBody reads the whole body and leaves it readable for whoever comes later.
func (x *exchange) readBody() ([]byte, error) {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil, nil
	}
	if limit := x.maxBody(); x.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	body, err := readAll(x.r.Body, x.r.ContentLength)
	x.work.Resume(x.ctx)
	if err != nil {
		return nil, bodyError(err)
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// readAll reads a body. The length that the client claims is trusted only where
// believing it costs little.
func readAll(from io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > 64<<10 {
		return io.ReadAll(from)
	}
	body := make([]byte, length)
	_, err := io.ReadFull(from, body) // net/http hands out no more than it claims
	return body, err
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "", "The request body is larger than %d bytes", limit)
}

// bodyError is what a failed read of the body means: too many bytes, or a
// client that went away.
func bodyError(err error) error {
	var large *http.MaxBytesError
	var known *fault.Error
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.As(err, &known):
		return known
	}
	return fault.Wrap(fault.BadRequest, "", err, "The request body could not be read")
}
