package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// definitions is the life of the DocType DocType: saving one checks it, makes
// or alters its table in the same transaction, and makes every process load it.
type definitions struct{ s *Service }

func (definitions) Handles(typeName string) bool { return typeName == doctype.DocTypeName }
func (definitions) RunsPlugins(string) bool      { return false }

func (d definitions) Run(ctx context.Context, ev *Event) error {
	switch ev.Name {
	case Validate:
		return d.validate(ctx, ev)
	case AfterInsert:
		return d.migrate(ctx, ev, nil)
	case OnUpdate:
		if ev.Before == nil {
			return nil // AfterInsert has done it
		}
		old, err := doctype.Define(doctype.DefinitionOf(ev.Before))
		if err != nil {
			return err
		}
		return d.migrate(ctx, ev, old)
	case OnTrash:
		if !ev.Doc.Bool("custom") {
			return fault.Invalid("", "%s is a standard DocType and cannot be deleted", ev.Doc.Name())
		}
		sc, err := d.s.schemaIn(ctx, ev.Tx)
		if err != nil {
			return err
		}
		for dt := range sc.All {
			for _, t := range dt.Tables {
				if t.Options == ev.Doc.Name() {
					return fault.Invalid("LinkExistsError", "Cannot delete the child table %s because %s has rows of it in %s", t.Options, dt.Name, t.Title())
				}
			}
		}
		return access.CheckDropped(sc, ev.Doc.Name(), ev.Caller, d.s.now())
	case AfterDelete:
		return d.s.publish(ctx, ev.Tx)
	}
	return nil
}

// current makes changes of DocTypes follow each other, in whichever process
// they are made, and returns the DocTypes that this one finds.
func (d definitions) current(ctx context.Context, tx Tx) (*doctype.Schema, error) {
	version, err := tx.BumpSchema(ctx)
	if err != nil {
		return nil, err
	}
	if sc := d.s.Schema(); sc.Version == version-1 {
		return sc, nil
	}
	return LoadSchema(ctx, tx, d.s.Schema(), version-1)
}

// validate checks a definition against itself and against the DocTypes it
// names, and fixes its physical names.
func (d definitions) validate(ctx context.Context, ev *Event) error {
	doc := ev.Doc
	sc, err := d.current(ctx, ev.Tx)
	if err != nil {
		return err
	}
	switch {
	case ev.Before == nil && !doc.Bool("custom"):
		return fault.Invalid("CannotCreateStandardDoctypeError", "A DocType made at run time must have custom set to 1")
	case ev.Before == nil && d.s.reserved(doc.Name()):
		return fault.Invalid("NameError", "The platform keeps the name %s for itself; choose another", doc.Name())
	case ev.Before != nil && !ev.Before.Bool("custom"):
		return fault.Denied("%s is a standard DocType and cannot be changed", doc.Name())
	case ev.Before != nil:
		doc.Put("custom", int64(1))
	}
	if ev.Before != nil {
		doc.Put("table_name", ev.Before.Text("table_name"))
		d.addFields(doc)
		doctype.FixColumns(doc, ev.Before)
	} else if err := d.place(ctx, ev, sc); err != nil {
		return err
	}
	dt, err := doctype.Define(doctype.DefinitionOf(doc))
	if err != nil {
		return err
	}
	if err := dt.CheckRules(); err != nil {
		return err
	}
	if err := dt.CheckTargets(sc); err != nil {
		return err
	}
	if err := access.CheckConditions(sc, dt, ev.Caller, d.s.now()); err != nil {
		return err
	}
	if err := dt.CheckNames(doc); err != nil {
		return err
	}
	if ev.Before != nil {
		return d.checkKind(ctx, ev, dt)
	}
	return nil
}

// addFields adds the fields that a kind of DocType brings with it.
func (d definitions) addFields(doc *doctype.Document) {
	if doc.Bool("is_submittable") {
		d.addField(doc, "amended_from", "Link", doc.Name())
	}
	if doc.Bool("is_tree") {
		d.addField(doc, doctype.ParentField(doc.Name()), "Link", doc.Name())
		d.addField(doc, "is_group", "Check", "")
	}
}

func (d definitions) addField(doc *doctype.Document, name, fieldtype, options string) {
	rows := doc.Rows("fields")
	for _, row := range rows {
		if row.Text("fieldname") == name {
			return
		}
	}
	row := doctype.NewDocument(d.s.Schema().DocType(doctype.DocFieldName))
	row.Put("name", HashName(d.s.now()))
	row.Put("fieldname", name)
	row.Put("fieldtype", fieldtype)
	if options != "" {
		row.Put("options", options)
	}
	row.Put("parent", doc.Name())
	stampRow(doc, "fields", len(rows), row, doc.Modified(), &identity.Caller{User: doc.TextAt(doctype.ColModifiedBy)})
	doc.PutRows("fields", append(rows, row))
}

// checkKind refuses to turn a DocType into another kind, and to number documents
// that have names.
func (d definitions) checkKind(ctx context.Context, ev *Event, dt *doctype.DocType) error {
	old, err := doctype.Define(doctype.DefinitionOf(ev.Before))
	if err != nil {
		return err
	}
	if old.Child != dt.Child || old.Single != dt.Single {
		return fault.Invalid("", "%s cannot change between a document, a child table and a single", dt.Name)
	}
	if name := old.Columns[doctype.ColName]; name.Numbered != dt.Columns[doctype.ColName].Numbered {
		some := &doctype.Select{DocType: old, Columns: []doctype.Column{{Operand: doctype.Operand{Field: name}, Key: "name"}}, Length: 1}
		return ev.Tx.Rows(ctx, some, func([]any) error {
			return fault.Invalid("", "%s has documents: it cannot change to or from autoincrement", dt.Name)
		})
	}
	return nil
}

// publish tells every process, this one first, that DocTypes have changed.
func (s *Service) publish(ctx context.Context, tx Tx) error {
	if _, err := tx.BumpSchema(ctx); err != nil {
		return err
	}
	after := context.WithoutCancel(ctx)
	tx.AfterCommit(func() {
		if err := s.Refresh(after); err != nil {
			s.log.Error("load changed DocTypes; the poller tries again", "error", err)
		}
	})
	return nil
}

// Republish has every process read anew what goes with the DocTypes, once tx is committed.
func (s *Service) Republish(ctx context.Context, tx Tx) error { return s.publish(ctx, tx) }

// Refresh loads the DocTypes if the store has others than the catalog. It is
// called after a change here, and polled for changes of other processes.
func (s *Service) Refresh(ctx context.Context) error {
	v, err := s.store.Versions(ctx)
	if err != nil || v.Schema == s.Schema().Version {
		return err
	}
	return s.store.Read(ctx, func(tx Tx) error {
		sc, err := LoadSchema(ctx, tx, s.Schema(), v.Schema)
		if err != nil {
			return err
		}
		s.warnBroken(sc)
		s.catalog.Publish(sc)
		return nil
	})
}
