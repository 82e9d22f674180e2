package file

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"armature/core/account"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// maxMethodBody is the most bytes of a file that a method handles: a method gets
// the file in memory.
const maxMethodBody = 8 << 20

// methodBodyFactor is how many times its length that takes until the method has it
// as an argument.
const methodBodyFactor = 4

// MethodCall is a file given to a method instead of being stored.
type MethodCall struct {
	Path        string            // dotted, as the client wrote it
	Args        map[string]string // the fields of the upload
	Name        string            // of the file
	ContentType string            // by the name's extension
	Body        []byte
}

// ServeUpload answers POST /api/method/upload_file (reference section 6.1). The
// body of r has not been read; it is read once, as a stream, and bounded here,
// since the size of a file is bounded otherwise than that of arguments. An error
// is returned before anything is written; *http.MaxBytesError is among them.
func (s *Service) ServeUpload(w http.ResponseWriter, r *http.Request, caller *identity.Caller) error {
	ctx := r.Context()
	if err := s.documents().Writable(); err != nil {
		return err // before the body is received
	}
	set, err := s.rules(ctx)
	if err != nil {
		return err
	}
	if caller.IsGuest() && !set.guests {
		return guestRefused() // before the body is received
	}
	if r.ContentLength > set.maxSize+maxOverhead {
		return tooLarge(set.maxSize) // without waiting for it
	}
	r.Body = http.MaxBytesReader(w, r.Body, set.maxSize+maxOverhead)
	f, err := s.readForm(ctx, r, set.maxSize)
	if err != nil {
		// A client that is still sending may not listen: what is left is bounded,
		// and read so that the refusal arrives.
		_, _ = io.Copy(io.Discard, r.Body)
		return err
	}
	defer f.close()
	message, err := s.handle(ctx, caller, f, set)
	if err != nil {
		return err
	}
	return answer(w, message)
}

// rules reads the settings outside any transaction.
func (s *Service) rules(ctx context.Context) (set settings, err error) {
	err = s.store.Read(ctx, func(tx document.Tx) error {
		set, err = s.settings(ctx, tx)
		return err
	})
	return set, err
}

// answer sends the result of a method; nil has none.
func answer(w http.ResponseWriter, message json.RawMessage) error {
	body := []byte("{}")
	if message != nil {
		body = append(append([]byte(`{"message":`), message...), '}')
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client is gone; the work is done either way
	return nil
}

// handle does what the fields ask for.
func (s *Service) handle(ctx context.Context, caller *identity.Caller, f *form, set settings) (json.RawMessage, error) {
	switch {
	case f.fields["method"] != "":
		return s.callMethod(ctx, caller, f)
	case f.draft == nil && f.fields["library_file_name"] != "":
		return s.registered(ctx, caller, func(tx document.Tx) (*doctype.Document, error) {
			return s.Copy(ctx, tx, caller, f.fields["library_file_name"], f.info())
		})
	case f.draft == nil && f.fields["file_url"] != "":
		return s.registered(ctx, caller, func(tx document.Tx) (*doctype.Document, error) {
			return s.Register(ctx, tx, caller, f.fields["file_url"], f.info())
		})
	case f.draft == nil:
		return nil, fault.Invalid("MandatoryError", "Neither a file nor a file_url was sent")
	}
	c, inChunks, err := chunkOf(f, caller, set.maxSize)
	if err != nil {
		return nil, err
	}
	if !inChunks {
		return s.uploaded(ctx, caller, f)
	}
	return s.handleChunk(ctx, caller, f, c, set.maxSize)
}

func (s *Service) registered(ctx context.Context, caller *identity.Caller, fn func(document.Tx) (*doctype.Document, error)) (json.RawMessage, error) {
	var doc *doctype.Document
	err := s.write(ctx, func(tx document.Tx) (err error) {
		doc, err = fn(tx)
		return err
	})
	return s.shown(caller, doc, err)
}

// shown is a File as its uploader sees it.
func (s *Service) shown(caller *identity.Caller, doc *doctype.Document, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.documents().AppendJSON(nil, caller, doc, document.ReadOptions{}), nil
}

// uploaded stores the draft of the form, shrunk where that is asked for.
func (s *Service) uploaded(ctx context.Context, caller *identity.Caller, f *form) (json.RawMessage, error) {
	if f.flag("optimize") {
		var b bounds
		for field, to := range map[string]*int{"max_width": &b.width, "max_height": &b.height} {
			n, err := f.number(field)
			if err != nil {
				return nil, err
			}
			*to = int(min(n, 1<<20))
		}
		d, err := s.shrink(ctx, f.draft, b)
		if err != nil {
			return nil, err
		}
		f.draft = d
	}
	doc, err := s.Upload(ctx, caller, f.draft, f.info())
	return s.shown(caller, doc, err)
}

// handleChunk keeps a piece, or finishes the upload with the last one. Who may
// not upload the whole may not store a piece.
func (s *Service) handleChunk(ctx context.Context, caller *identity.Caller, f *form, c chunk, most int64) (json.RawMessage, error) {
	err := s.store.Read(ctx, func(tx document.Tx) error {
		if _, err := s.admit(ctx, tx, caller, c.total, f.info()); err != nil {
			return err
		}
		return s.grow(ctx, tx, max(c.total, c.size), false)
	})
	if err != nil {
		return nil, err
	}
	if !c.last() {
		return nil, s.keep(ctx, c, f.draft, most)
	}
	whole, done, err := s.join(ctx, c, f.draft, most)
	if err != nil {
		return nil, err
	}
	f.draft.Close()
	f.draft = whole
	message, err := s.uploaded(ctx, caller, f)
	// After a failure that may pass the client sends the last piece again.
	done(fault.KindOf(err) == fault.Unavailable || fault.KindOf(err) == fault.Timeout)
	return message, err
}

// callMethod hands the file to a method.
func (s *Service) callMethod(ctx context.Context, caller *identity.Caller, f *form) (json.RawMessage, error) {
	if s.call == nil {
		return nil, fault.Invalid("", "Failed to get method for command %s", f.fields["method"])
	}
	call := MethodCall{Path: f.fields["method"], Args: make(map[string]string, len(f.fields)), Name: CleanName(f.info().Name)}
	for name, v := range f.fields {
		if name != "method" {
			call.Args[name] = v
		}
	}
	if f.draft != nil {
		if f.draft.Size > maxMethodBody {
			return nil, tooLarge(maxMethodBody)
		}
		if err := account.From(ctx).Take(ctx, account.Body, methodBodyFactor*f.draft.Size); err != nil {
			return nil, err
		}
		file, err := f.draft.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		body := bytes.NewBuffer(make([]byte, 0, f.draft.Size+bytes.MinRead))
		if _, err := io.Copy(body, file); err != nil {
			return nil, err
		}
		call.Body, call.ContentType = body.Bytes(), contentType(call.Name)
	}
	return s.call(ctx, caller, call)
}
