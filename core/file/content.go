package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"armature/core/fault"
)

// content is a stored file as http.ServeContent wants it. It is opened where
// reading begins: going to the end to learn the size reads nothing.
type content struct {
	ctx     context.Context // of the one request it serves
	storage Storage
	key     string
	size    int64

	at   int64         // where the next Read begins
	open io.ReadCloser // nil: not open
	here int64         // where open reads on
}

// begin opens the file where the answer is likely to begin, so that bytes which
// are missing are an error and not half an answer.
func (c *content) begin(r *http.Request, tag string) error {
	if r.Method == http.MethodHead || r.Header.Get("If-None-Match") == tag {
		return nil
	}
	if from, _, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"); ok {
		if n, err := strconv.ParseInt(from, 10, 64); err == nil && n > 0 && n < c.size {
			c.at = n
		}
	}
	err := c.reopen()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.NotFound, "", err, "The file is missing in the storage")
	case err != nil:
		return fault.Wrap(fault.Unavailable, "", err, "The file storage does not answer")
	}
	return nil
}

func (c *content) reopen() (err error) {
	c.close()
	c.open, err = c.storage.Open(c.ctx, c.key, c.at)
	c.here = c.at
	return err
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.open == nil || c.here != c.at {
		if err := c.reopen(); err != nil {
			c.open = nil
			return 0, err
		}
	}
	n, err := c.open.Read(p)
	c.at += int64(n)
	c.here = c.at
	return n, err
}

// Seek implements io.Seeker.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a file")
	}
	c.at = offset
	return offset, nil
}

func (c *content) close() {
	if c.open != nil {
		c.open.Close() // it was only read
		c.open = nil
	}
}
