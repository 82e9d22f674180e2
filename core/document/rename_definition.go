package document

import (
	"context"
	"fmt"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// ofDefinition reports whether a DocType is renamed, and not a document of one.
func (r *renaming) ofDefinition() bool { return r.dt.Name == doctype.DocTypeName }

// definition renames a DocType that the site has made itself: its documents stay where
// they are, in a table whose name it keeps, and everything that names it follows. What
// scopes, grants of plugins and code say of the old name is theirs to change.
func (r *renaming) definition(ctx context.Context, before *doctype.Document, merge bool) (*doctype.Document, error) {
	sc, err := definitions{r.s}.current(ctx, r.tx)
	if err != nil {
		return nil, err
	}
	dt := sc.DocType(r.old)
	switch {
	case merge:
		return nil, fault.Invalid("", "DocTypes cannot be merged")
	case !before.Bool("custom") || dt == nil:
		return nil, fault.Denied("%s is a standard DocType and cannot be renamed", r.old)
	case dt.Tree:
		return nil, fault.Invalid("", "%s is a tree, whose parent field is named after it: it cannot be renamed", r.old)
	case r.new == r.old:
		return nil, fault.Invalid("", "DocType %s has this name already", r.old)
	case r.s.reserved(r.new):
		return nil, fault.Invalid("NameError", "The platform keeps the name %s for itself; choose another", r.new)
	case sc.DocType(r.new) != nil:
		return nil, fault.New(fault.Conflict, "DuplicateEntryError", "DocType %s already exists", r.new)
	}
	if err := checkName(r.dt, r.new); err != nil {
		return nil, err
	}
	if err := r.moveDocuments(ctx, sc, dt); err != nil {
		return nil, err
	}
	doc, err := r.rename(ctx, before)
	if err != nil {
		return nil, err
	}
	if err := r.tx.BumpEpoch(ctx); err != nil { // who may do what names DocTypes
		return nil, err
	}
	return doc, r.s.publish(ctx, r.tx)
}

// moveDocuments changes what of the documents says their DocType, and what of other
// DocTypes leads to it. Links to the DocType itself move as all links do.
func (r *renaming) moveDocuments(ctx context.Context, sc *doctype.Schema, dt *doctype.DocType) error {
	for _, t := range dt.Tables {
		child := sc.DocType(t.Options)
		if child == nil {
			continue
		}
		if err := r.replace(ctx, child, child.Columns[doctype.ColParentType]); err != nil {
			return err
		}
	}
	if dt.Single {
		if err := r.replace(ctx, dt, dt.Columns[doctype.ColName]); err != nil {
			return err
		}
	}
	for _, l := range loose {
		if of := sc.DocType(l.doctype); of != nil && !of.Field(l.kind).IsLink() {
			if err := r.replace(ctx, of, of.Field(l.kind)); err != nil {
				return err
			}
		}
	}
	if err := r.moveOptions(ctx, sc); err != nil {
		return err
	}
	for _, f := range dt.Columns {
		if f.IsPassword() {
			if err := r.reseal(ctx, dt, f); err != nil {
				return fmt.Errorf("secrets of %s.%s: %w", dt.Name, f.Name, err)
			}
		}
	}
	return r.tx.MoveCounters(ctx, seriesCounter(dt, ""), seriesCounter(&doctype.DocType{Name: r.new}, ""))
}

// replace puts the new name where the old one is in a field.
func (r *renaming) replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, more ...doctype.Where) error {
	where := append(doctype.AllOf{doctype.Compare{Operand: doctype.Operand{Field: f}, Op: query.Eq, Value: r.old}}, more...)
	_, err := r.tx.Replace(ctx, dt, f, where, r.new)
	return err
}

// moveOptions changes the fields of DocTypes that lead to it, Link and Table; options
// of other fields may be the same word and mean something else.
func (r *renaming) moveOptions(ctx context.Context, sc *doctype.Schema) error {
	fields := sc.DocType(doctype.DocFieldName)
	seen := map[string]bool{}
	for dt := range sc.All {
		for _, f := range dt.Fields {
			if f.Options != r.old || seen[f.Type] || !f.IsLink() && f.Kind != doctype.Rows {
				continue
			}
			seen[f.Type] = true
			kind := doctype.Compare{Operand: doctype.Operand{Field: fields.Field("fieldtype")}, Op: query.Eq, Value: f.Type}
			if err := r.replace(ctx, fields, fields.Field("options"), kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// reseal seals the secrets of a field for its new name: what was sealed for another
// does not open. One that cannot be opened stays as it is.
func (r *renaming) reseal(ctx context.Context, dt *doctype.DocType, f *doctype.Field) error {
	if r.s.sealer == nil {
		return nil
	}
	name := doctype.Operand{Field: dt.Columns[doctype.ColName]}
	secrets := map[string]string{}
	err := r.tx.Rows(ctx, &doctype.Select{
		DocType: dt, Columns: []doctype.Column{{Operand: name, Key: "name"}, {Operand: doctype.Operand{Field: f}, Key: f.Name}},
		Where: doctype.Compare{Operand: doctype.Operand{Field: f}, Op: query.Is, Value: true},
	}, func(v []any) error {
		sealed, _ := v[1].(string)
		if text, err := r.s.sealer.Open(purpose(dt, f), sealed); err == nil {
			secrets[fmt.Sprint(v[0])] = r.s.sealer.Seal(SealPurpose(r.new, f.Name), text)
		}
		return nil
	})
	for doc, sealed := range secrets {
		if err == nil {
			_, err = r.tx.UpdateIf(ctx, dt, doc, nil, map[string]any{f.Name: sealed})
		}
	}
	return err
}
