package file

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// ServeAttachFile answers framework.client.attach_file (reference section 4.3):
// a content as text in an argument. get returns an argument as JSON gave it, or
// nil. Unlike an upload the content is in memory, as every argument is.
func (s *Service) ServeAttachFile(w http.ResponseWriter, r *http.Request, caller *identity.Caller, get func(name string) any) error {
	ctx := r.Context()
	set, err := s.rules(ctx)
	if err != nil {
		return err
	}
	if caller.IsGuest() && !set.guests {
		return guestRefused()
	}
	text, ok := get("filedata").(string)
	if !ok {
		return fault.Invalid("TypeError", "Missing required argument: filedata")
	}
	var content io.Reader = strings.NewReader(text)
	if flag(textOf(get("decode_base64"))) {
		content = base64Reader{base64.NewDecoder(base64.StdEncoding, content)}
	}
	d, err := s.Receive(ctx, content, set.maxSize)
	if err != nil {
		return err
	}
	defer d.Close()
	doc, err := s.Upload(ctx, caller, d, Info{
		Name: textOf(get("filename")), Private: flag(textOf(get("is_private"))), Folder: textOf(get("folder")),
		DocType: textOf(get("doctype")), DocName: textOf(get("docname")), Field: textOf(get("docfield")),
	})
	if err != nil {
		return err
	}
	return answer(w, s.documents().AppendJSON(nil, caller, doc, document.ReadOptions{WithNull: true}))
}

// base64Reader makes bad base64 an error of the client.
type base64Reader struct{ io.Reader }

func (r base64Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fault.Invalid("DataError", "filedata is not base64")
	}
	return n, err
}
