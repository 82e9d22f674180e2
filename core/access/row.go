package access

import (
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// Rows of child tables have no rights of their own: whoever reads or changes one
// does so to the document it belongs to, whose rules and levels hold.

// MissingRow is the fault for a row that there is not: whether there is one is only
// for those who may see its document, and of whom it is not known whether they may.
func (r *Rights) MissingRow(dt *doctype.DocType, right Right, name string, missing error) error {
	if r.Caller.Unchecked() || r.Caller.HasRole(identity.SystemManager) {
		return missing
	}
	return Denied(r.Caller, dt, right, name)
}

// AdmitTable asks for the level of a table of a document whose rows are of dt.
func (r *Rights) AdmitTable(parent, dt *doctype.DocType, table string, right Right) error {
	f := parent.Field(table)
	if f == nil || f.Kind != doctype.Rows || f.Options != dt.Name {
		return fault.Invalid("", "%s has no table %s of such rows", parent.Name, table)
	}
	if right != Read {
		right = Write
	}
	if !r.levels(parent, right).Has(f.PermLevel) {
		return Denied(r.Caller, dt, right, "")
	}
	return nil
}

// Levels are those at which the caller reads the fields of a document that the
// caller may read, or of a row: those in the document it belongs to.
func (r *Rights) Levels(doc *doctype.Document) Levels {
	dt := doc.Type
	if dt.Child {
		if dt = r.Schema.DocType(doc.Text("parenttype")); dt == nil {
			return 1
		}
	}
	return r.levels(dt, Read)
}

// View is what the caller sees of documents of a DocType that is no child table.
func (r *Rights) View(dt *doctype.DocType, withNull bool) doctype.View {
	return doctype.View{Levels: uint16(r.levels(dt, Read)), WithNull: withNull}
}

// WriteLevels are those at which the caller writes fields of documents that the
// caller may write.
func (r *Rights) WriteLevels(dt *doctype.DocType) Levels { return r.levels(dt, Write) }
