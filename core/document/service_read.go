package document

import (
	"context"
	"errors"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// lookup finds the DocType a request names.
func (s *Service) lookup(typeName string) (*doctype.DocType, error) {
	if dt := s.Schema().DocType(typeName); dt != nil {
		return dt, nil
	}
	return nil, fault.Missing("DocType %s not found", typeName)
}

// viewOf is what the caller sees of a document, or of a row.
func (s *Service) viewOf(caller *identity.Caller, doc *doctype.Document, opt ReadOptions) doctype.View {
	return doctype.View{Levels: uint16(s.may(nil, caller).Levels(doc)), WithNull: opt.WithNull || opt.ExpandLinks}
}

// ReadsOnce reports whether one statement reads a document, so that it needs no
// Store.View to be of one moment.
func (s *Service) ReadsOnce(name string, opt ReadOptions) bool {
	dt := s.Schema().DocType(name)
	return dt == nil || !opt.ExpandLinks && !dt.Child && !dt.Single && len(dt.Tables) == 0
}

func (s *Service) appendDocument(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, typeName, name string, opt ReadOptions) ([]byte, error) {
	dt, err := s.lookup(typeName)
	if err != nil {
		return dst, err
	}
	if opt.ExpandLinks || dt.Child || dt.Single {
		doc, err := s.get(ctx, tx, caller, typeName, name, access.Read, false)
		if err != nil {
			return dst, err
		}
		if !opt.ExpandLinks {
			return s.AppendJSON(dst, caller, doc, opt), nil
		}
		return s.appendExpanded(ctx, tx, caller, dst, doc)
	}
	rights := s.may(tx, caller)
	g, err := rights.Guard(ctx, dt, access.Read)
	if err != nil {
		return dst, err
	}
	if !g.Plain() {
		doc, err := s.get(ctx, tx, caller, typeName, name, access.Read, false)
		if err != nil {
			return dst, err
		}
		return s.AppendJSON(dst, caller, doc, opt), nil
	}
	start := len(dst)
	view := rights.View(dt, opt.WithNull)
	out, err := tx.AppendDocument(ctx, dst, s.Schema(), dt, name, view, func(values []any) error {
		if g.Open() {
			return nil
		}
		if ok, err := g.AdmitsRow(ctx, values); ok || err != nil {
			return err
		}
		return errNotByRole
	})
	if !errors.Is(err, errNotByRole) {
		return out, err
	}
	// The row is being read while check runs, so a share is looked up afterwards.
	doc, err := s.get(ctx, tx, caller, typeName, name, access.Read, false)
	if err != nil {
		return dst[:start], err
	}
	return s.AppendJSON(dst[:start], caller, doc, opt), nil
}

// errNotByRole says that the rules of roles refuse a document; a share may
// still open it.
var errNotByRole = errors.New("not by role")

func (s *Service) get(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name string, right access.Right, lock bool) (*doctype.Document, error) {
	dt, err := s.lookup(typeName)
	if err != nil {
		return nil, err
	}
	if dt.Child {
		return s.getRow(ctx, tx, caller, dt, name, right, lock)
	}
	g, err := s.may(tx, caller).Guard(ctx, dt, right)
	if err != nil {
		return nil, err
	}
	doc, err := tx.Get(ctx, s.Schema(), dt, name, lock)
	if dt.Single && name == dt.Name && fault.KindOf(err) == fault.NotFound {
		return s.unsaved(dt, caller), nil
	}
	if err != nil {
		return nil, err
	}
	return doc, g.Admit(ctx, doc)
}

// unsaved is a Single nobody has saved yet.
func (s *Service) unsaved(dt *doctype.DocType, caller *identity.Caller) *doctype.Document {
	doc := doctype.NewDocument(dt)
	doc.Put("name", dt.Name)
	doc.Put("owner", identity.Administrator)
	doc.Put("modified_by", identity.Administrator)
	s.applyDefaults(doc, caller)
	return doc
}

// AppendJSON appends a document as the caller may see it.
func (s *Service) AppendJSON(dst []byte, caller *identity.Caller, doc *doctype.Document, opt ReadOptions) []byte {
	return doc.AppendJSON(dst, s.viewOf(caller, doc, opt))
}

// AppendWritten appends a document that the caller has just written: as the caller
// may see it, or where a token or a plugin may write and not read, which it is.
func (s *Service) AppendWritten(dst []byte, caller *identity.Caller, doc *doctype.Document, opt ReadOptions) []byte {
	if doc.Type.Child || s.may(nil, caller).InScope(doc.Type, access.Read) == nil {
		return s.AppendJSON(dst, caller, doc, opt)
	}
	dst = doctype.AppendString(append(dst, `{"name":`...), doc.Name())
	dst = doctype.AppendString(append(dst, `,"doctype":`...), doc.Type.Name)
	return append(dst, '}')
}

// appendExpanded appends a document with every link replaced by the linked
// document (SPEC: expand_links). It needs read on each linked document.
func (s *Service) appendExpanded(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, doc *doctype.Document) ([]byte, error) {
	v := s.viewOf(caller, doc, ReadOptions{WithNull: true})
	dst = append(dst, '{')
	for i, f := range doc.Type.Columns {
		if !v.Shows(f) {
			continue
		}
		dst = f.AppendKey(dst)
		target := doc.LinkTarget(f)
		name, _ := doc.Values()[i].(string)
		if target == "" || name == "" {
			dst = append(doctype.AppendValue(dst, f, doc.Values()[i]), ',')
			continue
		}
		var err error
		if dst, err = s.appendDocument(ctx, tx, caller, dst, target, name, ReadOptions{WithNull: true}); err != nil {
			return dst, err
		}
		if len(dst) > s.maxAnswer() { // rows may all link to the same large document
			return dst, s.answerTooLarge(doctype.ErrTooManyBytes)
		}
		if len(dst) > freeAnswer {
			if err := charge(ctx, len(dst)); err != nil {
				return dst, err
			}
		}
		dst = append(dst, ',')
	}
	dst = doc.Type.AppendKey(dst)
	for _, t := range doc.Type.Tables {
		if !v.Shows(t) {
			continue
		}
		dst = doctype.AppendTableKey(dst, t)
		for i, row := range doc.Rows(t.Name) {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = s.appendExpanded(ctx, tx, caller, dst, row); err != nil {
				return dst, err
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), nil
}
