package egress

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"

	"armature/core/fault"
)

// answer reads an answer with a body of at most limit bytes.
func answer(resp *http.Response, h *hop, limit int64) (*Response, error) {
	if resp.StatusCode < http.StatusOK {
		return nil, errors.New("the answer is not final") // 101, which nobody asked for
	}
	out := &Response{Status: resp.StatusCode, Header: answerHeader(resp.Header)}
	if h.method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		return out, nil // a Content-Length speaks of a body that is not sent
	}
	if resp.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	body := io.Reader(resp.Body)
	if h.decode && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		body = &decoded{raw: &io.LimitedReader{R: resp.Body, N: limit + slack}}
		out.Header.Del("Content-Encoding")
		out.Header.Del("Content-Length")
	}
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case int64(len(b)) > limit || errors.Is(err, errEndless):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, err
	}
	out.Body = b
	return out, nil
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "", "The answer is over %d bytes", limit)
}

// slack is how much larger than its contents a compressed body may be.
const slack = 64 << 10

// errEndless is a compressed body that is longer than anything it could hold.
var errEndless = errors.New("the compressed body is over the limit")

// decoded reads a gzip body. net/http could decode too, but counts nothing: a
// body of endless empty parts would be read until time is up.
type decoded struct {
	raw *io.LimitedReader
	zip *gzip.Reader
}

func (d *decoded) Read(p []byte) (int, error) {
	if d.zip == nil {
		zip, err := gzip.NewReader(d.raw)
		if err != nil {
			return 0, d.failed(err) // io.EOF: there is no body at all
		}
		d.zip = zip
	}
	n, err := d.zip.Read(p)
	return n, d.failed(err)
}

func (d *decoded) failed(err error) error {
	if err != nil && d.raw.N <= 0 {
		return errEndless
	}
	return err
}
