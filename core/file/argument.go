package file

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"armature/core/account"
	"armature/core/fault"
)

// argumentFactor is how many times its length a file takes that is an argument: the
// method has it in memory, and makes something of it.
const argumentFactor = 3

// ReadArguments reads the arguments of a method that takes a file: the fields of
// the address and of a multipart body, and its part "file", which may have max
// bytes and is nil when none came. The body is bounded here, and errors are faults
// or *http.MaxBytesError.
func ReadArguments(w http.ResponseWriter, r *http.Request, most int64) (fields map[string]string, content []byte, err error) {
	if r.ContentLength > most+maxOverhead {
		return nil, nil, tooLargeArgument(most) // without waiting for it
	}
	r.Body = http.MaxBytesReader(w, r.Body, most+maxOverhead)
	size := most
	if n := r.ContentLength; n > 0 {
		size = min(n, most)
	}
	if err := account.From(r.Context()).Take(r.Context(), account.Body, argumentFactor*size); err != nil {
		return nil, nil, err
	}
	f := &form{fields: make(map[string]string)}
	for name, values := range r.URL.Query() {
		if err := f.set(name, values[0]); err != nil {
			return nil, nil, err
		}
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, nil, badBody(err)
	}
	err = f.readMultipart(r.Body, params["boundary"], most, func(body io.Reader) error {
		var b bytes.Buffer
		if r.ContentLength > 0 {
			b.Grow(int(size) + bytes.MinRead) // so that it is not copied as it grows
		}
		_, err := b.ReadFrom(io.LimitReader(body, most+1))
		if err == nil && int64(b.Len()) > most {
			err = tooLargeArgument(most)
		}
		content = b.Bytes()
		return err
	})
	if err != nil {
		// A client that is still sending may not listen: what is left is bounded,
		// and read so that the refusal arrives.
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, nil, err
	}
	return f.fields, content, nil
}

func tooLargeArgument(most int64) error {
	return fault.New(fault.TooLarge, "", "The file is over %d bytes", most)
}
