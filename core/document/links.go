package document

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// checkLinks makes sure that what a document links to exists: one query per
// linked DocType. Links that before holds already are not looked at again: what
// they name may be gone since, and that is no fault of this change.
func (s *Service) checkLinks(ctx context.Context, tx Tx, doc, before *doctype.Document) error {
	wanted := s.links(doc, before)
	var broken []string
	for len(wanted) > 0 {
		target := wanted[0].doctype
		group := wanted[:0:0]
		var rest []link
		for _, l := range wanted {
			if l.doctype == target {
				group = append(group, l)
			} else {
				rest = append(rest, l)
			}
		}
		absent, err := s.absent(ctx, tx, target, group)
		if err != nil {
			return err
		}
		for _, l := range group {
			if slices.Contains(absent, l.name) {
				broken = append(broken, l.where+l.field.Title()+": "+l.name)
			}
		}
		wanted = rest
	}
	if len(broken) > 0 {
		return fault.Invalid("LinkValidationError", "Could not find %s", strings.Join(broken, ", "))
	}
	return nil
}

// links collects what a document and its rows newly link to.
func (s *Service) links(doc, before *doctype.Document) []link {
	wanted := collectLinks(nil, doc, before, "")
	for _, t := range doc.Type.Tables {
		old := make(map[string]*doctype.Document)
		if before != nil {
			for _, row := range before.Rows(t.Name) {
				old[row.Name()] = row
			}
		}
		for i, row := range doc.Rows(t.Name) {
			wanted = collectLinks(wanted, row, old[row.Name()], fmt.Sprintf("Row #%d: ", i+1))
		}
	}
	return wanted
}

// maxNeeds is how many links a statement checks by itself. Beyond it one query
// for each linked DocType is the better deal.
const maxNeeds = 6

// needs is what a write asks the database to check in its own statement. Links
// that the schema alone refuses, and many of them, are checked here and now.
func (s *Service) needs(ctx context.Context, tx Tx, doc, before *doctype.Document) ([]Need, error) {
	var needs []Need
	for _, l := range s.links(doc, before) {
		dt := s.Schema().DocType(l.doctype)
		if dt == nil || dt.Single || dt.Name == doctype.DocTypeName || len(needs) == maxNeeds {
			return nil, s.checkLinks(ctx, tx, doc, before)
		}
		if need := (Need{DocType: dt, Name: l.name}); !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	return needs, nil
}

// link is one value that has to name a document.
type link struct {
	doctype, name string
	field         *doctype.Field
	where         string
}

func collectLinks(dst []link, doc, before *doctype.Document, where string) []link {
	for _, f := range doc.Type.Columns {
		if !f.IsLink() && !f.IsDynamicLink() {
			continue
		}
		name, _ := doc.Values()[f.Index].(string)
		target := doc.LinkTarget(f)
		if name == "" || target == "" {
			continue
		}
		if before != nil && before.Values()[f.Index] == name && before.LinkTarget(f) == target {
			continue
		}
		dst = append(dst, link{target, name, f, where})
	}
	return dst
}

// absent returns the names of the group that no document of the DocType has. A
// link to a DocType is checked against the schema, one to a Single against its
// only name.
func (s *Service) absent(ctx context.Context, tx Tx, typeName string, group []link) ([]string, error) {
	names := make([]string, 0, len(group))
	for _, l := range group {
		if !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	dt := s.Schema().DocType(typeName)
	switch {
	case dt == nil:
		return names, nil
	case typeName == doctype.DocTypeName:
		return slices.DeleteFunc(names, func(n string) bool { return s.Schema().DocType(n) != nil }), nil
	case dt.Single:
		return slices.DeleteFunc(names, func(n string) bool { return n == typeName }), nil
	}
	return tx.Absent(ctx, dt, names)
}

// refuseLinked refuses to delete what another document links to, and, with
// live, to cancel what another submitted document links to. Which one it is it
// tells whoever may read that.
func (s *Service) refuseLinked(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document, live bool) error {
	sc, err := s.schemaIn(ctx, tx)
	if err != nil {
		return err
	}
	for ref := range references(sc, doc.Type.Name) {
		if ref.field.Name == "amended_from" && live || ref.kind != nil && slices.Contains(belonging, ref.dt.Name) {
			continue
		}
		typeName, name, err := firstWith(ctx, tx, ref, doc, live)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		by := "a document that you may not read"
		_, err = s.get(ctx, tx, caller, typeName, name, access.Read, false)
		switch kind := fault.KindOf(err); {
		case err == nil, kind == fault.NotFound && caller.Unchecked(): // its DocType may be another process's
			by = typeName + " " + name
		case kind != fault.Permission && kind != fault.NotFound:
			return err
		}
		return fault.Invalid("LinkExistsError", "Cannot delete or cancel %s %s because %s is linked with it", doc.Type.Name, doc.Name(), by)
	}
	return nil
}

// firstWith names a document that links to doc, by itself or by a row; empty when
// none does. Rows of doc itself do not count.
func firstWith(ctx context.Context, tx Tx, ref reference, doc *doctype.Document, live bool) (typeName, name string, err error) {
	dt := ref.dt
	where := doctype.AllOf{ref.to(doc.Type.Name, doc.Name())}
	if live {
		where = append(where, doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColDocstatus]}, Op: query.Eq, Value: int64(submitted)})
	}
	columns := []doctype.Column{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Key: "name"}}
	if dt.Child {
		where = append(where, doctype.AnyOf{
			doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParent]}, Op: query.Ne, Value: doc.Name()},
			doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParentType]}, Op: query.Ne, Value: doc.Type.Name},
		})
		columns = append(columns,
			doctype.Column{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParentType]}, Key: "parenttype"},
			doctype.Column{Operand: doctype.Operand{Field: dt.Columns[doctype.ColParent]}, Key: "parent"})
	} else if dt == doc.Type {
		where = append(where, doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Ne, Value: doc.Name()})
	}
	err = tx.Rows(ctx, &doctype.Select{DocType: dt, Columns: columns, Where: where, Length: 1}, func(v []any) error {
		typeName, name = dt.Name, fmt.Sprint(v[0])
		if dt.Child {
			typeName, name = fmt.Sprint(v[1]), fmt.Sprint(v[2])
		}
		return nil
	})
	return typeName, name, err
}

// checkStatusLinks applies the rules of submitting and cancelling to links: a
// document is not submitted while it links to a cancelled one, nor cancelled
// while a submitted one links to it. An amendment starts from a cancelled one.
func (s *Service) checkStatusLinks(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	from := int64(draft)
	if before != nil {
		from = before.Docstatus()
	}
	switch {
	case from == submitted && doc.Docstatus() == cancelled:
		return s.refuseLinked(ctx, tx, caller, doc, true)
	case from == draft && doc.Docstatus() == submitted:
		return s.refuseCancelled(ctx, tx, doc)
	case before == nil && doc.Type.Submittable && doc.Text("amended_from") != "":
		return s.checkAmended(ctx, tx, doc)
	}
	return nil
}

func (s *Service) refuseCancelled(ctx context.Context, tx Tx, doc *doctype.Document) error {
	all := collectLinks(nil, doc, nil, "")
	for _, row := range RowsOf(doc) {
		all = collectLinks(all, row, nil, "")
	}
	for _, l := range all {
		dt := s.Schema().DocType(l.doctype)
		if dt == nil || !dt.Submittable || l.field.Name == "amended_from" {
			continue
		}
		gone, err := s.column(ctx, tx, dt, dt.Columns[doctype.ColName], doctype.AllOf{
			doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Eq, Value: l.name},
			doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColDocstatus]}, Op: query.Eq, Value: int64(cancelled)},
		})
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			return fault.Invalid("CancelledLinkError", "Cannot link cancelled document: %s: %s", l.field.Title(), l.name)
		}
	}
	return nil
}

func (s *Service) checkAmended(ctx context.Context, tx Tx, doc *doctype.Document) error {
	dt := doc.Type
	status, err := s.column(ctx, tx, dt, dt.Columns[doctype.ColDocstatus],
		doctype.Compare{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Op: query.Eq, Value: doc.Text("amended_from")})
	if err != nil {
		return err
	}
	if len(status) == 1 && status[0] != int64(cancelled) {
		return fault.Invalid("", "%s %s can be amended only once it is cancelled", dt.Name, doc.Text("amended_from"))
	}
	return nil
}

// protectLinks refuses that a plugin attaches something to a document of the
// platform's own that it may not read: a comment, a file, a task. Fields whose
// DocType is fixed are part of a definition, which was approved.
func (s *Service) protectLinks(tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	if caller.Frame == nil {
		return nil
	}
	for _, l := range s.links(doc, before) {
		dt := s.Schema().DocType(l.doctype)
		if dt == nil || !l.field.IsDynamicLink() || !s.Platform(l.doctype) {
			continue
		}
		if err := s.may(tx, caller).InScope(dt, access.Read); err != nil {
			return err
		}
	}
	return nil
}
