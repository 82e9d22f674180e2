package file

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
)

// move gives a file whose privacy changes a URL of its new privacy (reference
// section 6.2). No byte moves: a blob is public or private by the documents that
// name it, so the move is committed or rolled back as a whole, and other Files of
// the same bytes stay what they are.
func (s *Service) move(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if doc.Text("storage_key") == "" {
		return nil // a URL of the web is where it is
	}
	if err := s.lock(ctx, ev.Tx); err != nil {
		return err
	}
	to, err := s.freeURL(ctx, ev.Tx, doc.Text("file_name"), doc.Text("content_hash"), doc.Bool("is_private"))
	doc.Put("file_url", to)
	return err
}

// follow puts another URL, or nil for none, into the attach field that a File
// belongs to and that holds its URL. It is a change of that document like any
// other: by the caller's rights and the token's, with its rules, hooks and
// versions.
func (s *Service) follow(ctx context.Context, ev *document.Event, from string, to any) error {
	in := infoOf(ev.Doc)
	schema := s.documents().Schema()
	dt := schema.DocType(in.DocType)
	if from == "" || dt == nil || !s.isAttachField(in.DocType, in.Field) {
		return nil
	}
	doc, err := ev.Tx.Get(ctx, schema, dt, in.DocName, false)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || doc.Text(in.Field) != from {
		return err
	}
	_, err = s.documents().As(ev.Caller, ev.Tx).Update(ctx, in.DocType, in.DocName, map[string]any{in.Field: to})
	return err
}
