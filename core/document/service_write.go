package document

import (
	"context"
	"time"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

func (s *Service) create(ctx context.Context, tx Tx, caller *identity.Caller, typeName string, values map[string]any) (*doctype.Document, error) {
	if err := s.settle(ctx, tx, typeName, values); err != nil {
		return nil, err
	}
	dt, err := s.lookup(typeName)
	if err != nil {
		return nil, err
	}
	switch {
	case dt.Child:
		return s.addRow(ctx, tx, caller, dt, values)
	case dt.Single:
		return nil, fault.Invalid("", "%s is a single document; update it instead", dt.Name)
	}
	rights := s.may(tx, caller)
	g, err := rights.Guard(ctx, dt, access.Create)
	if err != nil {
		return nil, err
	}
	if err := rights.ProtectAll(dt); err != nil {
		return nil, err
	}
	return s.insert(ctx, tx, rights, dt, values, rights.WriteLevels(dt), g)
}

// insert creates a document. Without a guard it asks no rights: the platform
// makes the document as a consequence of what the caller may do.
func (s *Service) insert(ctx context.Context, tx Tx, rights *access.Rights, dt *doctype.DocType, values map[string]any, levels access.Levels, g *access.Guard) (*doctype.Document, error) {
	caller := rights.Caller
	doc := doctype.NewDocument(dt)
	if err := rights.Defaults(ctx, doc); err != nil {
		return nil, err
	}
	s.applyDefaults(doc, caller)
	var unset *doctype.Document
	if rights.Protects(dt) {
		unset = doc.Clone()
	}
	a := &assignment{s: s, caller: caller, levels: levels, status: true}
	if err := a.document(doc, values, true); err != nil {
		return nil, err
	}
	if err := rights.Protect(doc, unset); err != nil {
		return nil, err
	}
	if err := s.protectLinks(tx, caller, doc, nil); err != nil {
		return nil, err
	}
	s.stamp(doc, nil, caller)
	if err := s.admitStatus(ctx, tx, caller, doc, nil); err != nil {
		return nil, err
	}
	if err := s.fire(ctx, BeforeInsert, tx, caller, doc, nil); err != nil {
		return nil, err
	}
	supplied, err := suppliedName(values["name"])
	if err != nil {
		return nil, err
	}
	if err := s.name(ctx, tx, doc, supplied); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, tx, caller, doc, nil); err != nil {
		return nil, err
	}
	var leads *access.Outcome
	if g != nil {
		leads = g.Outcome()
	}
	if err := leads.Admit(ctx, doc); err != nil {
		return nil, err
	}
	if err := s.insertRow(ctx, tx, doc, nil); err != nil {
		return nil, err
	}
	if err := leads.Stored(ctx, doc); err != nil {
		return nil, err
	}
	return doc, s.fireAll(ctx, tx, caller, doc, nil, afterInsert(doc))
}

func afterInsert(doc *doctype.Document) []string {
	if doc.Docstatus() == submitted {
		return []string{AfterInsert, OnUpdate, OnSubmit, OnChange}
	}
	return []string{AfterInsert, OnUpdate, OnChange}
}

func (s *Service) fireAll(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document, events []string) error {
	for _, name := range events {
		if err := s.fire(ctx, name, tx, caller, doc, before); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) update(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name string, values map[string]any) (*doctype.Document, error) {
	if err := s.settle(ctx, tx, typeName, values); err != nil {
		return nil, err
	}
	if dt := s.Schema().DocType(typeName); dt != nil && dt.Child {
		return s.changeRow(ctx, tx, caller, dt, name, values)
	}
	before, err := s.get(ctx, tx, caller, typeName, name, access.Write, true)
	if err != nil {
		return nil, err
	}
	dt := before.Type
	if sent, ok := values["modified"].(string); ok && sent != "" && !sameTime(sent, before.Modified(), s.zone()) {
		return nil, fault.Invalid("TimestampMismatchError",
			"%s %s has been modified after you have opened it. Please refresh to get the latest document.", typeName, name)
	}
	if err := constants(before, values, s.zone()); err != nil {
		return nil, err
	}
	doc := before.Clone()
	rights := s.may(tx, caller)
	a := &assignment{s: s, caller: caller, levels: rights.WriteLevels(dt), status: true}
	if err := a.document(doc, values, false); err != nil {
		return nil, err
	}
	if err := rights.Protect(doc, before); err != nil {
		return nil, err
	}
	if err := s.protectLinks(tx, caller, doc, before); err != nil {
		return nil, err
	}
	if err := s.admitStatus(ctx, tx, caller, doc, before); err != nil {
		return nil, err
	}
	s.stamp(doc, before, caller)
	if err := s.prepare(ctx, tx, caller, doc, before); err != nil {
		return nil, err
	}
	leads, err := s.may(tx, caller).Outcome(ctx, dt)
	if err != nil {
		return nil, err
	}
	if err := leads.Admit(ctx, doc); err != nil {
		return nil, err
	}
	if before.Modified() == "" { // a Single saved for the first time
		err = s.insertRow(ctx, tx, doc, before)
	} else {
		err = s.save(ctx, tx, caller, doc, before)
	}
	if err != nil {
		return nil, err
	}
	if err := leads.Stored(ctx, doc); err != nil {
		return nil, err
	}
	return doc, s.fireAll(ctx, tx, caller, doc, before, afterUpdate(doc, before))
}

// sameTime compares what a client sent back with what is stored; clients drop
// the fraction's trailing zeros.
func sameTime(sent, stored string, zone *time.Location) bool {
	if sent == stored {
		return true
	}
	t, _, ok := doctype.ParseDatetime(sent, zone)
	return ok && doctype.FormatDatetime(t) == stored
}

// constants refuses a change of what never changes.
func constants(before *doctype.Document, values map[string]any, zone *time.Location) error {
	if owner, ok := values["owner"].(string); ok && owner != before.Owner() {
		return fault.Invalid("CannotChangeConstantError", "Value cannot be changed for owner")
	}
	if creation, ok := values["creation"].(string); ok && !sameTime(creation, before.TextAt(doctype.ColCreation), zone) {
		return fault.Invalid("CannotChangeConstantError", "Value cannot be changed for creation")
	}
	return nil
}

// changed lists what an update has to write: the columns whose value differs,
// always modified and modified_by, and the child tables that differ.
func changed(doc, before *doctype.Document) (columns, tables []*doctype.Field) {
	for i, f := range doc.Type.Columns {
		if i == doctype.ColModified || i == doctype.ColModifiedBy || doc.Values()[i] != before.Values()[i] {
			columns = append(columns, f)
		}
	}
	for _, t := range doc.Type.Tables {
		if !doctype.SameRows(doc.Rows(t.Name), before.Rows(t.Name)) {
			tables = append(tables, t)
		}
	}
	return columns, tables
}

// stamp sets the standard fields of a change. modified always grows, also when
// two changes fall into one microsecond or the clock steps back.
func (s *Service) stamp(doc, before *doctype.Document, caller *identity.Caller) {
	now := doctype.FormatDatetime(s.now())
	if before == nil || before.Modified() == "" {
		doc.Values()[doctype.ColOwner] = caller.User
		doc.Values()[doctype.ColCreation] = now
	} else if stored := before.Modified(); now <= stored {
		if t, _, ok := doctype.ParseDatetime(stored, nil); ok {
			now = doctype.FormatDatetime(t.Add(time.Microsecond))
		}
	}
	doc.Values()[doctype.ColModified] = now
	doc.Values()[doctype.ColModifiedBy] = caller.User
	stampRows(doc, caller)
}

// stampRows sets the standard fields of the rows by their document's.
func stampRows(doc *doctype.Document, caller *identity.Caller) {
	for _, t := range doc.Type.Tables {
		for i, row := range doc.Rows(t.Name) {
			row.Values()[doctype.ColParent] = doc.Values()[doctype.ColName]
			stampRow(doc, t.Name, i, row, doc.Modified(), caller)
		}
	}
}

func stampRow(doc *doctype.Document, table string, i int, row *doctype.Document, now string, caller *identity.Caller) {
	if row.TextAt(doctype.ColCreation) == "" {
		row.Values()[doctype.ColOwner] = caller.User
		row.Values()[doctype.ColCreation] = now
	}
	if row.TextAt(doctype.ColModified) == "" {
		row.Values()[doctype.ColModified] = now
		row.Values()[doctype.ColModifiedBy] = caller.User
	}
	row.Values()[doctype.ColDocstatus] = doc.Values()[doctype.ColDocstatus]
	row.Values()[doctype.ColIdx] = int64(i + 1)
	row.Values()[doctype.ColParentField] = table
	row.Values()[doctype.ColParentType] = doc.Type.Name
}

func (s *Service) delete(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name string) error {
	doc, err := s.get(ctx, tx, caller, typeName, name, access.Delete, true)
	if err == nil {
		err = s.may(tx, caller).ProtectAll(doc.Type)
	}
	if err != nil {
		return err
	}
	switch {
	case doc.Type.Single:
		return fault.Invalid("", "%s is a single document and cannot be deleted", typeName)
	case doc.Type.Child:
		return fault.Invalid("", "Rows of %s are deleted with their parent", typeName)
	case doc.Docstatus() == submitted:
		return fault.Invalid("", "%s %s is submitted and cannot be deleted; cancel it first", typeName, name)
	}
	return s.remove(ctx, tx, caller, doc)
}

// remove deletes a document that may be deleted, and what belongs to it.
func (s *Service) remove(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document) error {
	if err := s.fire(ctx, OnTrash, tx, caller, doc, doc); err != nil {
		return err
	}
	if err := s.refuseLinked(ctx, tx, caller, doc, false); err != nil {
		return err
	}
	found, err := tx.Delete(ctx, s.Schema(), doc.Type, doc.Name())
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("%s %s not found", doc.Type.Name, doc.Name())
	}
	if err := s.removeBelonging(ctx, tx, doc); err != nil {
		return err
	}
	if err := s.giveBack(ctx, tx, doc); err != nil {
		return err
	}
	if err := s.recordDeleted(ctx, tx, caller, doc); err != nil {
		return err
	}
	if s.extra != nil {
		if err := s.extra.Gone(ctx, tx, caller, doc); err != nil {
			return err
		}
	}
	return s.fireAll(ctx, tx, caller, doc, doc, []string{OnChange, AfterDelete})
}

// recordDeleted keeps a copy of a deleted document, where there is room for it.
func (s *Service) recordDeleted(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document) error {
	s.quota.Shrink(tx, doc.Type.Name)
	full, err := s.quota.Full(ctx)
	if err != nil || full {
		return err
	}
	return s.record(ctx, tx, caller, "Deleted Document", map[string]any{
		"deleted_doctype": doc.Type.Name, "deleted_name": doc.Name(),
		"data": string(doc.AppendJSON(nil, doctype.View{Levels: ^uint16(0), WithNull: true})),
	})
}
