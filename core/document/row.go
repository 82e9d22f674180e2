package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// Rows of child tables have no rights and no life cycle of their own: whoever
// reads or changes one by its name does so to the document it belongs to, whose
// rules, levels, hooks and versions see it.

// getRow reads a row by its own name, which takes the right on its document and
// the level of the table.
func (s *Service) getRow(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, name string, right access.Right, lock bool) (*doctype.Document, error) {
	row, err := tx.Get(ctx, s.Schema(), dt, name, lock)
	if fault.KindOf(err) == fault.NotFound {
		return nil, s.may(tx, caller).MissingRow(dt, right, name, err)
	}
	if err != nil {
		return nil, err
	}
	parent, err := s.get(ctx, tx, caller, row.Text("parenttype"), row.Text("parent"), right, false)
	if err != nil {
		return nil, err
	}
	return row, s.may(tx, caller).AdmitTable(parent.Type, dt, row.Text("parentfield"), right)
}

// addRow appends a row to the document that its values name.
func (s *Service) addRow(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, values map[string]any) (*doctype.Document, error) {
	parenttype, _ := values["parenttype"].(string)
	parent, _ := values["parent"].(string)
	table, _ := values["parentfield"].(string)
	if parenttype == "" || parent == "" || table == "" {
		return nil, fault.Invalid("", "A row of the child table %s needs parenttype, parent and parentfield", dt.Name)
	}
	if of, err := s.lookup(parenttype); err != nil || of.Child {
		return nil, fault.Invalid("", "%s has no table %s of such rows", parenttype, table)
	}
	doc, err := s.get(ctx, tx, caller, parenttype, parent, access.Write, true)
	if err != nil {
		return nil, err
	}
	if err := s.may(tx, caller).AdmitTable(doc.Type, dt, table, access.Write); err != nil {
		return nil, err
	}
	rows := keptRows(doc, table, "", nil)
	row := make(map[string]any, len(values))
	for key, v := range values {
		row[key] = v
	}
	delete(row, "name") // one that is stored would be taken for that row
	doc, err = s.update(ctx, tx, caller, parenttype, parent, map[string]any{table: append(rows, row)})
	if err != nil {
		return nil, err
	}
	all := doc.Rows(table)
	return all[len(all)-1], nil
}

// changeRow changes a row by its own name.
func (s *Service) changeRow(ctx context.Context, tx Tx, caller *identity.Caller, dt *doctype.DocType, name string, values map[string]any) (*doctype.Document, error) {
	row, err := s.getRow(ctx, tx, caller, dt, name, access.Write, false)
	if err != nil {
		return nil, err
	}
	if sent, ok := values["modified"].(string); ok && sent != "" && !sameTime(sent, row.Modified(), s.zone()) {
		return nil, fault.Invalid("TimestampMismatchError",
			"%s %s has been modified after you have opened it. Please refresh to get the latest document.", dt.Name, name)
	}
	if err := constants(row, values, s.zone()); err != nil {
		return nil, err
	}
	parenttype, parent, table := row.Text("parenttype"), row.Text("parent"), row.Text("parentfield")
	doc, err := s.get(ctx, tx, caller, parenttype, parent, access.Write, true)
	if err != nil {
		return nil, err
	}
	changed := make(map[string]any, len(values))
	for key, v := range values {
		changed[key] = v
	}
	changed["name"] = name
	doc, err = s.update(ctx, tx, caller, parenttype, parent, map[string]any{table: keptRows(doc, table, name, changed)})
	if err != nil {
		return nil, err
	}
	for _, row := range doc.Rows(table) {
		if row.Name() == name {
			return row, nil
		}
	}
	return nil, missingRow(dt, name)
}

func missingRow(dt *doctype.DocType, name string) error {
	return fault.Missing("%s %s not found", dt.Name, name)
}

// keptRows lists the rows of a table as an update takes them: each by its name,
// which keeps it as it is, with the named one replaced.
func keptRows(doc *doctype.Document, table, name string, replacement map[string]any) []any {
	rows := make([]any, 0, len(doc.Rows(table))+1)
	for _, row := range doc.Rows(table) {
		if row.Name() == name {
			rows = append(rows, replacement)
			continue
		}
		rows = append(rows, map[string]any{"name": row.Name()})
	}
	return rows
}
