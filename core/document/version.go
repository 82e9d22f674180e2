package document

import (
	"context"
	"encoding/json"

	"armature/core/doctype"
	"armature/core/identity"
)

// versionName is the DocType that keeps what changes did (track_changes).
const versionName = "Version"

// delta is the data of a Version in the form clients of the reference read:
// changed holds [field, old, new], row_changed [table, index, row, changed].
type delta struct {
	Changed    [][3]any `json:"changed"`
	Added      [][2]any `json:"added"`
	Removed    [][2]any `json:"removed"`
	RowChanged [][4]any `json:"row_changed"`
}

// keepVersion stores what a change did to a document of a tracked DocType, in
// the transaction of the change.
func (s *Service) keepVersion(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	if !doc.Type.Track || before == nil {
		return nil
	}
	d := compare(doc, before)
	if len(d.Changed)+len(d.Added)+len(d.Removed)+len(d.RowChanged) == 0 {
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.record(ctx, tx, caller, versionName, map[string]any{
		"ref_doctype": doc.Type.Name, "docname": doc.Name(), "data": string(data),
	})
}

func compare(doc, before *doctype.Document) delta {
	d := delta{Changed: fieldChanges(doc, before), Added: [][2]any{}, Removed: [][2]any{}, RowChanged: [][4]any{}}
	for _, t := range doc.Type.Tables {
		old := make(map[string]*doctype.Document)
		for _, row := range before.Rows(t.Name) {
			old[row.Name()] = row
		}
		for i, row := range doc.Rows(t.Name) {
			was := old[row.Name()]
			delete(old, row.Name())
			if was == nil {
				d.Added = append(d.Added, [2]any{t.Name, rowValues(row)})
			} else if c := fieldChanges(row, was); len(c) > 0 {
				d.RowChanged = append(d.RowChanged, [4]any{t.Name, i, row.Name(), c})
			}
		}
		for _, row := range before.Rows(t.Name) {
			if old[row.Name()] != nil {
				d.Removed = append(d.Removed, [2]any{t.Name, rowValues(row)})
			}
		}
	}
	return d
}

func fieldChanges(doc, before *doctype.Document) [][3]any {
	changes := [][3]any{}
	for i, f := range doc.Type.Columns {
		if f.Standard && i != doctype.ColDocstatus || f.IsPassword() || f.IsInternal() || doc.Values()[i] == before.Values()[i] {
			continue
		}
		changes = append(changes, [3]any{f.Name, before.Values()[i], doc.Values()[i]})
	}
	return changes
}

func rowValues(row *doctype.Document) json.RawMessage {
	return row.AppendJSON(nil, doctype.View{Levels: ^uint16(0)})
}

// record stores a document the platform itself makes as a consequence of the
// caller's act: it asks no rights and runs no hooks, and the caller owns it. A
// site without the DocType keeps no records.
func (s *Service) record(ctx context.Context, tx Tx, caller *identity.Caller, typeName string, values map[string]any) error {
	dt := s.Schema().DocType(typeName)
	if dt == nil {
		return nil
	}
	doc := doctype.NewDocument(dt)
	for name, v := range values {
		doc.Put(name, v)
	}
	s.stamp(doc, nil, caller)
	doc.Put("name", HashName(s.now()))
	return tx.Insert(ctx, doc)
}
