package document

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

func (s *Service) rename(ctx context.Context, tx Tx, caller *identity.Caller, typeName, old, newName string, merge bool) (*doctype.Document, error) {
	before, err := s.get(ctx, tx, caller, typeName, old, access.Write, true)
	if err != nil {
		return nil, err
	}
	if err := s.may(tx, caller).ProtectAll(before.Type); err != nil {
		return nil, err
	}
	r := &renaming{s: s, tx: tx, caller: caller, dt: before.Type, old: before.Name(), new: strings.TrimSpace(newName)}
	if r.ofDefinition() {
		return r.definition(ctx, before, merge)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	absent, err := tx.Absent(ctx, r.dt, []string{r.new})
	if err != nil {
		return nil, err
	}
	switch taken := len(absent) == 0; {
	case merge && !taken:
		return nil, fault.Missing("%s %s does not exist; choose another document to merge with", typeName, r.new)
	case merge:
		return r.merge(ctx, before)
	case taken:
		return nil, fault.New(fault.Conflict, "DuplicateEntryError", "%s %s already exists", typeName, r.new)
	}
	return r.rename(ctx, before)
}

// renaming is one rename on its way.
type renaming struct {
	s        *Service
	tx       Tx
	caller   *identity.Caller
	dt       *doctype.DocType
	old, new string
}

func (r *renaming) check() error {
	switch dt := r.dt; {
	case dt.Child, dt.Single, dt.Columns[doctype.ColName].Numbered, !dt.AllowRename:
		return fault.Invalid("", "Documents of %s are not allowed to be renamed", dt.Name)
	case r.new == r.old:
		return fault.Invalid("", "%s %s has this name already", dt.Name, r.old)
	}
	return checkName(r.dt, r.new)
}

func (r *renaming) rename(ctx context.Context, before *doctype.Document) (*doctype.Document, error) {
	s := r.s
	doc := before.Clone()
	doc.Put("name", r.new)
	columns := []*doctype.Field{r.dt.Columns[doctype.ColModified], r.dt.Columns[doctype.ColModifiedBy]}
	if f := r.dt.Field(r.dt.NamingField()); f != nil && f.Kind == doctype.Text {
		doc.Values()[f.Index] = r.new
		columns = append(columns, f)
	}
	s.stamp(doc, before, r.caller)
	if err := s.fire(ctx, BeforeRename, r.tx, r.caller, doc, before); err != nil {
		return nil, err
	}
	doc.Put("name", r.new) // it is not a hook's to choose
	// The new name must not lead out of what the caller may write.
	if err := s.may(r.tx, r.caller).Demand(ctx, doc, access.Write); err != nil {
		return nil, err
	}
	name := r.dt.Columns[doctype.ColName]
	n, err := r.tx.Replace(ctx, r.dt, name, doctype.Compare{Operand: doctype.Operand{Field: name}, Op: query.Eq, Value: r.old}, r.new)
	if err != nil {
		return nil, err
	}
	if n != 1 {
		return nil, fault.Missing("%s %s not found", r.dt.Name, r.old)
	}
	if err := r.moveRows(ctx); err != nil {
		return nil, err
	}
	for _, row := range RowsOf(doc) {
		row.Put("parent", r.new)
	}
	if err := r.moveLinks(ctx); err != nil {
		return nil, err
	}
	if _, err := r.tx.Update(ctx, s.Schema(), doc, columns, nil, ""); err != nil {
		return nil, err
	}
	if err := r.version(ctx); err != nil {
		return nil, err
	}
	return doc, s.fire(ctx, AfterRename, r.tx, r.caller, doc, before)
}

// merge moves what names the old document to the new one and deletes the old.
func (r *renaming) merge(ctx context.Context, before *doctype.Document) (*doctype.Document, error) {
	s := r.s
	if err := s.may(r.tx, r.caller).Demand(ctx, before, access.Delete); err != nil {
		return nil, err
	}
	into, err := s.get(ctx, r.tx, r.caller, r.dt.Name, r.new, access.Write, true)
	if err != nil {
		return nil, err
	}
	if before.Docstatus() == submitted {
		return nil, fault.Invalid("", "%s %s is submitted and cannot be merged away; cancel it first", r.dt.Name, r.old)
	}
	if r.dt.Tree {
		above, err := access.Ancestors(ctx, r.tx, r.dt, r.new, nil)
		if err != nil {
			return nil, err
		}
		if slices.Contains(above, any(r.old)) {
			return nil, fault.Invalid("", "%s cannot be merged with %s, which is below it", r.old, r.new)
		}
	}
	if err := s.fire(ctx, BeforeRename, r.tx, r.caller, into, before); err != nil {
		return nil, err
	}
	if err := r.moveLinks(ctx); err != nil {
		return nil, err
	}
	if err := s.remove(ctx, r.tx, r.caller, before); err != nil {
		return nil, err
	}
	return into, s.fire(ctx, AfterRename, r.tx, r.caller, into, before)
}

// moveRows gives the rows of the document its new name.
func (r *renaming) moveRows(ctx context.Context) error {
	done := map[string]bool{}
	for _, t := range r.dt.Tables {
		child := r.s.Schema().DocType(t.Options)
		if child == nil || done[child.Name] {
			continue
		}
		done[child.Name] = true
		parent := child.Columns[doctype.ColParent]
		_, err := r.tx.Replace(ctx, child, parent, doctype.AllOf{
			doctype.Compare{Operand: doctype.Operand{Field: parent}, Op: query.Eq, Value: r.old},
			doctype.Compare{Operand: doctype.Operand{Field: child.Columns[doctype.ColParentType]}, Op: query.Eq, Value: r.dt.Name},
		}, r.new)
		if err != nil {
			return err
		}
	}
	return nil
}

// moveLinks makes everything that names the old document name the new one.
// What processes know of callers and of DocTypes is made of links too.
func (r *renaming) moveLinks(ctx context.Context) error {
	sc, err := r.s.schemaIn(ctx, r.tx)
	if err != nil {
		return err
	}
	callers, types := false, false
	for ref := range references(sc, r.dt.Name) {
		n, err := r.tx.Replace(ctx, ref.dt, ref.field, ref.to(r.dt.Name, r.old), r.new)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		switch ref.dt.Name {
		case doctype.DocTypeName, doctype.DocFieldName, doctype.DocPermName:
			types = true
		case "User", "Has Role", "User Permission", "DocShare":
			callers = true
		}
	}
	if types {
		if err := r.s.publish(ctx, r.tx); err != nil {
			return err
		}
	}
	if callers || r.dt.Name == "Role" {
		return r.tx.BumpEpoch(ctx)
	}
	return nil
}

func (r *renaming) version(ctx context.Context) error {
	if !r.dt.Track {
		return nil
	}
	data, err := json.Marshal(delta{
		Changed: [][3]any{{"name", r.old, r.new}}, Added: [][2]any{}, Removed: [][2]any{}, RowChanged: [][4]any{},
	})
	if err != nil {
		return err
	}
	return r.s.record(ctx, r.tx, r.caller, versionName, map[string]any{
		"ref_doctype": r.dt.Name, "docname": r.new, "data": string(data),
	})
}
