package file

import (
	"context"
	"path"

	"armature/core/doctype"
	"armature/core/document"
)

// move gives a file whose privacy changes the URL of its new privacy, for every
// File that shares it, and in the attach fields that hold it (reference section
// 6.2). No byte moves: a blob is public or private by the documents that name
// it, so the move is committed or rolled back as a whole.
func (s *Service) move(ctx context.Context, ev *document.Event) error {
	doc, tx := ev.Doc, ev.Tx
	key, private := doc.Text("storage_key"), doc.Bool("is_private")
	if key == "" {
		return nil // a URL of the web is where it is
	}
	if err := s.lock(ctx, tx); err != nil {
		return err
	}
	from, to := doc.Text("file_url"), ""
	same, err := s.sameBytes(ctx, tx, doc.Text("content_hash"), contentOf(key), private)
	if err != nil {
		return err
	}
	if same != nil {
		to = same.Text("file_url")
	} else if to, err = s.freeURL(ctx, tx, path.Base(from), doc.Text("content_hash"), private); err != nil {
		return err
	}
	sharing, err := s.find(ctx, tx, 0, match{"file_url", from})
	if err != nil {
		return err
	}
	for _, other := range sharing {
		if other.Name() != doc.Name() {
			_, err = tx.UpdateIf(ctx, other.Type, other.Name(), map[string]any{"file_url": from}, map[string]any{
				"file_url": to, "is_private": check(private), "modified": doc.Modified(), "modified_by": ev.Caller.User,
			})
			if err != nil {
				return err
			}
		}
		if err := s.follow(ctx, tx, other, from, to); err != nil {
			return err
		}
	}
	doc.Put("file_url", to)
	return nil
}

// follow changes the URL in the attach field that a File belongs to.
func (s *Service) follow(ctx context.Context, tx document.Tx, doc *doctype.Document, from, to string) error {
	in := infoOf(doc)
	for _, f := range s.attachFields(in.DocType) {
		if f.Name != in.Field {
			continue
		}
		dt := s.documents().Schema().DocType(in.DocType)
		_, err := tx.UpdateIf(ctx, dt, in.DocName, map[string]any{f.Name: from}, map[string]any{f.Name: to})
		return err
	}
	return nil
}
