package document

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
)

// definitions is the life of the DocType DocType: saving one checks it, makes
// or alters its table in the same transaction, and makes every process load it.
type definitions struct{ s *Service }

func (definitions) Handles(doctype string) bool { return doctype == DocTypeName }
func (definitions) Guest(string) bool           { return false }

func (d definitions) Run(ctx context.Context, ev *Event) error {
	switch ev.Name {
	case Validate:
		return d.validate(ev)
	case AfterInsert:
		return d.migrate(ctx, ev, nil)
	case OnUpdate:
		if ev.Before == nil {
			return nil // AfterInsert has done it
		}
		return d.migrate(ctx, ev, d.s.Schema().DocType(ev.Doc.Name()))
	case OnTrash:
		if !ev.Doc.Bool("custom") {
			return fault.Invalid("", "%s is a standard DocType and cannot be deleted", ev.Doc.Name())
		}
	case AfterDelete:
		return d.s.publish(ctx, ev.Tx)
	}
	return nil
}

// validate checks a definition against itself and against the DocTypes it
// names, and fixes its physical names.
func (d definitions) validate(ev *Event) error {
	doc := ev.Doc
	switch {
	case ev.Before == nil && !doc.Bool("custom"):
		return fault.Invalid("CannotCreateStandardDoctypeError", "A DocType made at run time must have custom set to 1")
	case ev.Before != nil && !ev.Before.Bool("custom"):
		return fault.Denied("%s is a standard DocType and cannot be changed", doc.Name())
	case ev.Before != nil:
		doc.Put("custom", int64(1))
	}
	if ev.Before != nil {
		doc.Put("table_name", ev.Before.Text("table_name"))
	} else {
		doc.Put("table_name", d.freeTable(doc.Name()))
	}
	d.addFields(doc)
	if err := d.columns(doc, ev.Before); err != nil {
		return err
	}
	dt, err := Define(DefinitionOf(doc))
	if err != nil {
		return err
	}
	if err := checkRules(dt); err != nil {
		return err
	}
	if err := d.checkTargets(dt); err != nil {
		return err
	}
	if ev.Before != nil {
		return d.checkKind(dt)
	}
	return nil
}

// addFields adds the fields that a kind of DocType brings with it.
func (d definitions) addFields(doc *Document) {
	if doc.Bool("is_submittable") {
		d.addField(doc, "amended_from", "Link", doc.Name())
	}
	if doc.Bool("is_tree") {
		d.addField(doc, ParentField(doc.Name()), "Link", doc.Name())
		d.addField(doc, "is_group", "Check", "")
	}
}

func (d definitions) addField(doc *Document, name, fieldtype, options string) {
	rows := doc.Rows("fields")
	for _, row := range rows {
		if row.Text("fieldname") == name {
			return
		}
	}
	row := NewDocument(d.s.Schema().DocType(DocFieldName))
	row.Put("name", HashName(d.s.now()))
	row.Put("fieldname", name)
	row.Put("fieldtype", fieldtype)
	if options != "" {
		row.Put("options", options)
	}
	row.Put("parent", doc.Name())
	stampRow(doc, "fields", len(rows), row, doc.Modified(), &identity.Caller{User: doc.text(ColModifiedBy)})
	doc.PutRows("fields", append(rows, row))
}

// freeTable is a table name that no DocType uses.
func (d definitions) freeTable(doctype string) string {
	base := TableName(doctype)
	taken := func(name string) bool {
		for dt := range d.s.Schema().All {
			if dt.Table == name {
				return true
			}
		}
		return false
	}
	name := base
	for n := 2; taken(name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}

// columns fixes fieldnames and physical columns: a field keeps the column it
// has; one whose storage changed, or that comes back after a removal with
// another storage, gets a new one. Columns are never dropped, so what the table
// has is kept in retired_columns.
func (d definitions) columns(doc, before *Document) error {
	known := map[string]Storage{} // every column the table has or had
	current := map[string]string{}
	for _, entry := range strings.Fields(doc.Text("retired_columns")) {
		if column, storage, ok := strings.Cut(entry, ":"); ok {
			n, _ := strconv.Atoi(storage)
			known[column] = Storage(n)
		}
	}
	if before != nil {
		for _, row := range before.Rows("fields") {
			if s, _ := StorageOf(row.Text("fieldtype")); row.Text("column_name") != "" {
				known[row.Text("column_name")] = s
				current[row.Text("fieldname")] = row.Text("column_name")
			}
		}
	}
	for i, row := range doc.Rows("fields") {
		if row.Text("fieldname") == "" {
			row.Put("fieldname", fieldnameFrom(row.Text("label"), i+1))
		}
		if row.Text("label") == "" {
			row.Put("label", labelFrom(row.Text("fieldname")))
		}
		storage, ok := StorageOf(row.Text("fieldtype"))
		if !ok || storage == NoStorage || storage == Rows || row.Bool("is_virtual") {
			row.Put("column_name", nil)
			continue
		}
		column := current[row.Text("fieldname")]
		if column == "" || known[column] != storage {
			column = freeColumn(row.Text("fieldname"), storage, known)
		}
		known[column] = storage
		row.Put("column_name", column)
	}
	var retired []string
	for column, storage := range known {
		retired = append(retired, fmt.Sprintf("%s:%d", column, storage))
	}
	slices.Sort(retired)
	doc.Put("retired_columns", strings.Join(retired, " "))
	return nil
}

func freeColumn(fieldname string, storage Storage, known map[string]Storage) string {
	if len(fieldname) > 50 {
		fieldname = fieldname[:50]
	}
	column := fieldname
	for n := 2; ; n++ {
		if had, taken := known[column]; !taken || had == storage {
			return column
		}
		column = fieldname + "_" + strconv.Itoa(n)
	}
}

// checkTargets makes sure that links and tables point at DocTypes of the right
// kind.
func (d definitions) checkTargets(dt *DocType) error {
	for _, f := range dt.Fields {
		if !f.IsLink() && f.Storage != Rows {
			continue
		}
		target := d.s.Schema().DocType(f.Options)
		if f.Options == dt.Name {
			target = dt
		}
		switch {
		case target == nil:
			return fault.Invalid("WrongOptionsDoctypeLinkError", "%s: options of %s must be a DocType; %s is none", dt.Name, f.Name, f.Options)
		case f.Storage == Rows && !target.Child:
			return fault.Invalid("WrongOptionsDoctypeLinkError", "%s: %s needs a child table; %s is none", dt.Name, f.Name, f.Options)
		case f.Storage == Rows && dt.Child:
			return fault.Invalid("", "%s: a child table cannot have a table of its own: %s", dt.Name, f.Name)
		}
	}
	for what, name := range map[string]string{
		"title_field": dt.TitleField, "sort_field": dt.SortField, "autoname": NamingField(dt),
	} {
		if f := dt.Field(name); name != "" && (f == nil || f.Index < 0) {
			return fault.Invalid("", "%s: %s names a field that does not exist: %s", dt.Name, what, name)
		}
	}
	return nil
}

// checkKind refuses to turn a DocType into another kind.
func (d definitions) checkKind(dt *DocType) error {
	old := d.s.Schema().DocType(dt.Name)
	if old != nil && (old.Child != dt.Child || old.Single != dt.Single) {
		return fault.Invalid("", "%s cannot change between a document, a child table and a single", dt.Name)
	}
	return nil
}

// checkRules applies the reference's rules for permission rows.
func checkRules(dt *DocType) error {
	type slot struct {
		role    string
		level   int
		ifOwner bool
	}
	seen := map[slot]bool{}
	ground := map[string]bool{}
	for _, r := range dt.Permissions {
		if r.Level == 0 {
			ground[r.Role] = true
		}
	}
	for _, r := range dt.Permissions {
		key := slot{r.Role, r.Level, r.IfOwner}
		bad := ""
		switch {
		case seen[key]:
			bad = "appears twice"
		case r.Level > 0 && !ground[r.Role]:
			bad = "has a level above 0 without a row of level 0"
		case r.Rights&permission.Cancel != 0 && r.Rights&permission.Submit == 0:
			bad = "cannot have cancel without submit"
		case r.Rights&(permission.Submit|permission.Cancel|permission.Amend) != 0 && r.Rights&permission.Write == 0:
			bad = "cannot have submit, cancel or amend without write"
		case r.Rights&(permission.Import|permission.Amend) != 0 && r.Rights&permission.Create == 0:
			bad = "cannot have import or amend without create"
		case r.Rights&permission.Submit != 0 && !dt.Submittable:
			bad = "cannot have submit: the DocType is not submittable"
		}
		if bad != "" {
			return fault.Invalid("", "%s: the permission row of %s %s", dt.Name, r.Role, bad)
		}
		seen[key] = true
	}
	return nil
}

func (d definitions) migrate(ctx context.Context, ev *Event, old *DocType) error {
	dt, err := Define(DefinitionOf(ev.Doc))
	if err != nil {
		return err
	}
	if err := ev.Tx.Migrate(ctx, old, dt); err != nil {
		return err
	}
	return d.s.publish(ctx, ev.Tx)
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
		s.catalog.Publish(sc)
		return nil
	})
}
