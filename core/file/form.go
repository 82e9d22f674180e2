package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"armature/core/fault"
)

// Bounds of an upload's form beside the file itself.
const (
	maxFields     = 100
	maxField      = 64 << 10 // bytes of one field
	maxPartHeader = 64 << 10 // bytes between the contents of two parts
	maxPlainBody  = 1 << 20  // bytes of a body that carries no file
	maxOverhead   = 8 << 20  // bytes of a whole body beside its file
)

// form is the fields of an upload and the file, spooled.
type form struct {
	fields  map[string]string
	draft   *Draft // nil: no file came
	name    string // of the file part
	hasFile bool
}

func (f *form) close() {
	if f.draft != nil {
		f.draft.Close()
	}
}

// flag and number read fields that are not text.
func (f *form) flag(name string) bool { return flag(f.fields[name]) }

func (f *form) number(name string) (int64, error) {
	text := strings.TrimSpace(f.fields[name])
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.Invalid("DataError", "%s must be a whole number of 0 or more", name)
	}
	return n, nil
}

// info is what the fields say of the file.
func (f *form) info() Info {
	name := f.name
	if name == "" || f.draft == nil {
		name = f.fields["file_name"]
	}
	return Info{
		Name: name, Private: f.flag("is_private"), Folder: f.fields["folder"],
		DocType: f.fields["doctype"], DocName: f.fields["docname"], Field: f.fields["fieldname"],
	}
}

// readForm reads a body once, from front to back: fields into memory, the file
// into the spool, whichever comes first. max bounds the file.
func (s *Service) readForm(ctx context.Context, r *http.Request, most int64) (*form, error) {
	f := &form{fields: make(map[string]string)}
	for name, values := range r.URL.Query() {
		if err := f.set(name, values[0]); err != nil {
			return nil, err
		}
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && media == "multipart/form-data" {
		err = f.readMultipart(r.Body, params["boundary"], most, func(body io.Reader) (err error) {
			f.draft, err = s.Receive(ctx, body, most)
			return err
		})
	} else {
		err = f.readPlain(r.Body, media)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// set takes a field; the first of a name counts.
func (f *form) set(name, value string) error {
	if strings.ContainsRune(name+value, 0) {
		return fault.Invalid("DataError", "%s holds bytes that are not text", CleanName(name))
	}
	if _, taken := f.fields[name]; !taken {
		if len(f.fields) >= maxFields {
			return fault.Invalid("DataError", "The request has too many arguments")
		}
		f.fields[name] = strings.ToValidUTF8(value, "\ufffd")
	}
	return nil
}

// readPlain reads a body without a file, for a URL or a library file.
func (f *form) readPlain(body io.Reader, media string) error {
	if body == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(body, maxPlainBody+1))
	if err != nil {
		return badBody(err)
	}
	if len(text) > maxPlainBody {
		return fault.New(fault.TooLarge, "", "The request body is larger than %d bytes", maxPlainBody)
	}
	switch media {
	case "application/json":
		var values map[string]any
		if len(text) > 0 && json.Unmarshal(text, &values) != nil {
			return badBody(nil)
		}
		for name, v := range values {
			if err := f.set(name, textOf(v)); err != nil {
				return err
			}
		}
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(text))
		if err != nil {
			return badBody(err)
		}
		for name, v := range values {
			if err := f.set(name, v[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// textOf is a JSON value as a form would have sent it.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return ""
}

// readMultipart reads the parts; receive reads the file. What follows the file is
// read too: a body that breaks off before its last boundary is no upload.
func (f *form) readMultipart(body io.Reader, boundary string, most int64, receive func(io.Reader) error) error {
	if boundary == "" || len(boundary) > 70 { // RFC 2046, section 5.1.1
		return badBody(nil)
	}
	limited := &allowance{r: body}
	reader := multipart.NewReader(limited, boundary)
	for range maxFields + 1 {
		limited.left = maxPartHeader
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) && limited.saw("--"+boundary+"--") {
			return nil
		}
		if err != nil {
			return badBody(err)
		}
		limited.left = most + maxField // a file is bounded by its own size
		if err := f.readPart(part, receive); err != nil {
			return err
		}
	}
	return fault.Invalid("DataError", "The request has too many arguments")
}

func (f *form) readPart(part *multipart.Part, receive func(io.Reader) error) error {
	name, isFile := part.FormName(), part.FileName() != "" || part.FormName() == "file"
	if isFile && name == "file" && !f.hasFile {
		f.hasFile, f.name = true, part.FileName()
		return receive(partReader{part})
	}
	if isFile || name == "" {
		_, err := io.Copy(io.Discard, partReader{part}) // not asked for
		return err
	}
	value, err := io.ReadAll(io.LimitReader(partReader{part}, maxField+1))
	if err != nil {
		return err
	}
	if len(value) > maxField {
		return fault.Invalid("DataError", "%s is too long", CleanName(name))
	}
	return f.set(name, string(value))
}

// partReader tells what is wrong with the body from what is wrong with the disk
// it is written to.
type partReader struct{ part *multipart.Part }

func (r partReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && err != io.EOF {
		err = badBody(err)
	}
	return n, err
}

// allowance bounds how much is read until it is set again: package multipart
// would hold ten megabytes of a part's header in memory.
// It remembers the end of what was read, since a body that breaks off between
// two parts looks to package multipart as one that is complete.
type allowance struct {
	r    io.Reader
	left int64
	tail []byte
}

// tailLength is enough for the last boundary and a little after it.
const tailLength = 256

func (a *allowance) saw(text string) bool { return bytes.Contains(a.tail, []byte(text)) }

var errAllowance = errors.New("the part is too large")

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errAllowance
	}
	if int64(len(p)) > a.left {
		p = p[:a.left]
	}
	n, err := a.r.Read(p)
	a.left -= int64(n)
	a.tail = append(a.tail, p[max(0, n-tailLength):n]...)
	a.tail = a.tail[max(0, len(a.tail)-tailLength):]
	return n, err
}

// badBody says what a failed read of the body means. Faults, and a body that is
// larger than the edge lets in, stay what they are.
func badBody(err error) error {
	var known *fault.Error
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &known), errors.As(err, &large), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fault.Wrap(fault.Validation, "DataError", err, "Invalid request body")
}
