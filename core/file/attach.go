package file

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/scope"
)

// attachFields are the Attach fields of each DocType of one schema.
type attachFields struct {
	schema *doctype.Schema
	by     map[string][]*doctype.Field
	within map[string]bool // the DocTypes that have some, in their tables included
}

// fields lists the Attach fields. It is asked on every write, so the answer is
// kept until the schema changes.
func (s *Service) fields() *attachFields {
	schema := s.documents().Schema()
	known := s.attach.Load()
	if known != nil && known.schema == schema {
		return known
	}
	known = &attachFields{schema, make(map[string][]*doctype.Field), make(map[string]bool)}
	for dt := range schema.All {
		for _, f := range dt.Columns {
			if f.IsAttachment() {
				known.by[dt.Name] = append(known.by[dt.Name], f)
				known.within[dt.Name] = true
			}
		}
	}
	for dt := range schema.All {
		for _, t := range dt.Tables {
			if len(known.by[t.Options]) > 0 {
				known.within[dt.Name] = true
			}
		}
	}
	s.attach.Store(known)
	return known
}

func (s *Service) isAttachField(typeName, field string) bool {
	for _, f := range s.fields().by[typeName] {
		if f.Name == field {
			return true
		}
	}
	return false
}

// settle gives the attach fields that a change of a document sets, in its rows
// too, a File of their own. It comes before the write: a File that is attached
// elsewhere stays there, another one of the same bytes is made, and its URL is
// what the field then holds.
func (s *Service) settle(ctx context.Context, ev *document.Event) error {
	if err := s.settleFields(ctx, ev, ev.Doc, ev.Before); err != nil {
		return err
	}
	before := rowsByName(ev.Before)
	for _, row := range document.RowsOf(ev.Doc) {
		if err := s.settleFields(ctx, ev, row, before[row.Name()]); err != nil {
			return err
		}
	}
	return nil
}

func rowsByName(doc *doctype.Document) map[string]*doctype.Document {
	if doc == nil {
		return nil
	}
	rows := make(map[string]*doctype.Document)
	for _, row := range document.RowsOf(doc) {
		rows[row.Name()] = row
	}
	return rows
}

func (s *Service) settleFields(ctx context.Context, ev *document.Event, doc, before *doctype.Document) error {
	for _, f := range s.fields().by[doc.Type.Name] {
		url := doc.Text(f.Name)
		if before != nil && before.Text(f.Name) == url {
			continue
		}
		if private, ok := stored(url); ok {
			if err := s.settleField(ctx, ev, doc, f, private); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleField attaches the File whose URL a field holds. Who may not read a
// private file cannot come by it by writing its URL into a document of their own,
// and is told the same of one that is not there.
func (s *Service) settleField(ctx context.Context, ev *document.Event, doc *doctype.Document, f *doctype.Field, private bool) error {
	if err := s.lock(ctx, ev.Tx); err != nil {
		return err
	}
	url := doc.Text(f.Name)
	known, err := s.withURL(ctx, ev.Tx, url)
	if err != nil {
		return err
	}
	to := Info{DocType: doc.Type.Name, DocName: doc.Name(), Field: f.Name}
	switch {
	case known == nil && (!private || f.FetchFrom != "" || ev.Caller.Unchecked()):
		return nil // a URL that is nobody's file is text
	case known == nil:
		return unreadable()
	case belongs(known, to):
		return nil
	case s.takes(ev, known, doc, f):
		_, err := ev.Tx.UpdateIf(ctx, known.Type, known.Name(), nil, map[string]any{
			"attached_to_doctype": to.DocType, "attached_to_name": to.DocName, "attached_to_field": to.Field,
			"modified": ev.Doc.Modified(), "modified_by": ev.Caller.User,
		})
		return err
	}
	copied, err := s.attachCopy(ctx, ev, url, to)
	if f.FetchFrom != "" && fault.KindOf(err) == fault.Permission {
		return nil // the DocType copies the URL, which by itself opens nothing
	}
	if err == nil {
		doc.Put(f.Name, copied.Get("file_url"))
	}
	return err
}

func belongs(f *doctype.Document, to Info) bool {
	at := infoOf(f)
	return at.DocType == to.DocType && at.DocName == to.DocName && at.Field == to.Field
}

// takes reports whether a field takes a File over as it is: one that is the
// caller's and not attached, one that is attached to the document as a whole, or
// one of a row that a row of the same table takes the place of.
func (s *Service) takes(ev *document.Event, known, doc *doctype.Document, f *doctype.Field) bool {
	at, mine := infoOf(known), !ev.Caller.IsGuest() && known.Owner() == ev.Caller.User
	if in := ev.Caller.Frame; in != nil && !in.Document(DocType, false, scope.Read) {
		mine = false // a plugin takes no file along that it may not read
	}
	if !at.attached() {
		return mine
	}
	if at.DocType != doc.Type.Name {
		return false
	}
	if at.DocName == doc.Name() {
		return at.Field == "" && (mine || ev.Before != nil)
	}
	was, stays := rowsByName(ev.Before)[at.DocName], rowsByName(ev.Doc)[at.DocName]
	return was != nil && stays == nil && at.Field == f.Name && doc.Type.Child &&
		was.Text("parentfield") == doc.Text("parentfield")
}

// attachCopy makes a File for a field of the bytes of another that the caller may
// read. A field that has such a File already keeps it: what is fetched from a
// linked document is fetched anew with every change.
func (s *Service) attachCopy(ctx context.Context, ev *document.Event, url string, to Info) (*doctype.Document, error) {
	shared, err := s.Open(ctx, ev.Tx, ev.Caller, url, "")
	if err != nil {
		return nil, err
	}
	there, err := s.find(ctx, ev.Tx, 1, match{"storage_key", shared.Text("storage_key")}, match{"is_private", shared.Get("is_private")},
		match{"attached_to_doctype", to.DocType}, match{"attached_to_name", to.DocName}, match{"attached_to_field", to.Field})
	if err != nil || len(there) > 0 {
		return first(there), err
	}
	to.Name, to.Private, to.Folder = shared.Text("file_name"), shared.Bool("is_private"), attachments
	content, err := s.contentOf(ctx, ev.Tx, shared, to)
	if err != nil {
		return nil, err
	}
	values := to.values()
	for field, v := range content {
		values[field] = v
	}
	return s.insert(ctx, ev.Tx, consequence(ev.Caller), shared.Text("storage_key"), values)
}

func first(found []*doctype.Document) *doctype.Document {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// Gone deletes the Files attached to a deleted document, of whatever DocType, and
// to its rows.
func (s *Service) Gone(ctx context.Context, tx document.Tx, caller *identity.Caller, gone *doctype.Document) error {
	if gone.Type.Name == DocType {
		return nil
	}
	if err := s.removeAttached(ctx, tx, caller, gone.Type.Name, []any{gone.Name()}); err != nil {
		return err
	}
	return s.rowsGone(ctx, tx, caller, gone, nil)
}

// rowsGone deletes the Files attached to rows of before that doc, or nil, no
// longer has.
func (s *Service) rowsGone(ctx context.Context, tx document.Tx, caller *identity.Caller, before, doc *doctype.Document) error {
	stay, gone := rowsByName(doc), make(map[string][]any)
	for _, row := range document.RowsOf(before) {
		if stay[row.Name()] == nil {
			gone[row.Type.Name] = append(gone[row.Type.Name], row.Name())
		}
	}
	for _, t := range before.Type.Tables {
		if err := s.removeAttached(ctx, tx, caller, t.Options, gone[t.Options]); err != nil {
			return err
		}
		delete(gone, t.Options)
	}
	return nil
}

func (s *Service) removeAttached(ctx context.Context, tx document.Tx, caller *identity.Caller, typeName string, names []any) error {
	if len(names) == 0 {
		return nil
	}
	dt, err := s.doctype()
	if err != nil {
		return err
	}
	found, err := s.findWhere(ctx, tx, dt, 0, doctype.AllOf{
		equal(dt, match{"attached_to_doctype", typeName}),
		doctype.Compare{Operand: doctype.Operand{Field: dt.Field("attached_to_name")}, Op: query.In, Value: names},
	})
	if err != nil {
		return err
	}
	for _, doc := range found {
		if err := s.documents().As(consequence(caller), tx).Delete(ctx, DocType, doc.Name()); err != nil {
			return err
		}
	}
	return nil
}
