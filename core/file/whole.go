package file

import (
	"context"
	"io"

	"armature/core/doctype"
	"armature/core/fault"
)

// Whole reads what a File that Open has found holds, at most so many bytes; TooLarge
// where it holds more.
func (s *Service) Whole(ctx context.Context, doc *doctype.Document, most int64) ([]byte, error) {
	r, err := s.storage.Open(ctx, doc.Text("storage_key"), 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fault.New(fault.TooLarge, "", "%s is over %d bytes", doc.Text("file_name"), most)
	}
	return text, err
}
