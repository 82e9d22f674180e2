package file

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/identity"
)

// attachFields are the Attach fields of each DocType of one schema.
type attachFields struct {
	schema *doctype.Schema
	by     map[string][]*doctype.Field
}

// attachFields lists the Attach fields of a DocType. It is asked on every write,
// so the answer is kept until the schema changes.
func (s *Service) attachFields(typeName string) []*doctype.Field {
	schema := s.documents().Schema()
	known := s.attach.Load()
	if known == nil || known.schema != schema {
		known = &attachFields{schema, make(map[string][]*doctype.Field)}
		for dt := range schema.All {
			for _, f := range dt.Columns {
				if f.Type == "Attach" || f.Type == "Attach Image" {
					known.by[dt.Name] = append(known.by[dt.Name], f)
				}
			}
		}
		s.attach.Store(known)
	}
	return known.by[typeName]
}

// attached follows the documents that have Attach fields: setting one attaches
// the File.
func (s *Service) attached(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.OnUpdate, document.OnUpdateAfterSubmit: // an insert is an update as well
		for _, f := range s.attachFields(ev.Doc.Type.Name) {
			url := ev.Doc.Text(f.Name)
			if ev.Before != nil && ev.Before.Text(f.Name) == url {
				continue
			}
			if private, ok := stored(url); ok {
				if err := s.attachURL(ctx, ev, f.Name, url, private); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// attachURL attaches the File with a URL to the field of a document. A File that
// is attached elsewhere stays there, and another one shares its bytes. Who may
// not read a private file cannot come by it by writing its URL into a document
// of their own.
func (s *Service) attachURL(ctx context.Context, ev *document.Event, field, url string, private bool) error {
	tx, to := ev.Tx, Info{DocType: ev.Doc.Type.Name, DocName: ev.Doc.Name(), Field: field}
	if err := s.lock(ctx, tx); err != nil {
		return err
	}
	known, err := s.find(ctx, tx, 1, match{"file_url", url})
	if err != nil || len(known) == 0 {
		return err // a URL that is nobody's file is text
	}
	here, err := s.find(ctx, tx, 0, match{"file_url", url}, match{"attached_to_doctype", to.DocType}, match{"attached_to_name", to.DocName})
	if err != nil {
		return err
	}
	var free *doctype.Document
	for _, doc := range here {
		switch doc.Text("attached_to_field") {
		case field:
			return nil
		case "":
			free = doc
		}
	}
	if free == nil {
		if free, err = s.unattached(ctx, ev, url); err != nil {
			return err
		}
	}
	if free != nil {
		_, err := tx.UpdateIf(ctx, free.Type, free.Name(), nil, map[string]any{
			"attached_to_doctype": to.DocType, "attached_to_name": to.DocName, "attached_to_field": field,
			"modified": ev.Doc.Modified(), "modified_by": ev.Caller.User,
		})
		return err
	}
	return s.attachCopy(ctx, ev, url, private, to)
}

// unattached finds a File with the URL that is the caller's and not attached.
func (s *Service) unattached(ctx context.Context, ev *document.Event, url string) (*doctype.Document, error) {
	if ev.Caller.IsGuest() {
		return nil, nil
	}
	found, err := s.find(ctx, ev.Tx, 1, match{"file_url", url}, match{"owner", ev.Caller.User}, match{"attached_to_doctype", nil})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (s *Service) attachCopy(ctx context.Context, ev *document.Event, url string, private bool, to Info) error {
	shared, err := s.Open(ctx, ev.Tx, ev.Caller, url, "")
	if err != nil {
		return err
	}
	to.Name, to.Private, to.Folder = shared.Text("file_name"), private, attachments
	values := to.values()
	for _, field := range []string{"file_url", "content_hash", "file_size"} {
		values[field] = shared.Get(field)
	}
	_, err = s.insert(ctx, ev.Tx, consequence(ev.Caller), shared.Text("storage_key"), values)
	return err
}

// Gone deletes the Files attached to a deleted document, of whatever DocType.
func (s *Service) Gone(ctx context.Context, tx document.Tx, caller *identity.Caller, gone *doctype.Document) error {
	if gone.Type.Name == DocType {
		return nil
	}
	found, err := s.find(ctx, tx, 0,
		match{"attached_to_doctype", gone.Type.Name}, match{"attached_to_name", gone.Name()})
	if err != nil {
		return err
	}
	for _, doc := range found {
		if err := s.documents().Delete(ctx, tx, consequence(caller), DocType, doc.Name()); err != nil {
			return err
		}
	}
	return nil
}
