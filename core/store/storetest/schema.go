package storetest

import (
	"fmt"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
)

// field makes a declared field of a type, with its column named apart from it,
// as after a rename.
func field(name, typ string, change ...func(*doctype.Field)) *doctype.Field {
	kind, ok := doctype.KindOf(typ)
	if !ok {
		panic("storetest: no field type " + typ)
	}
	f := &doctype.Field{Name: name, Label: name, Type: typ, Kind: kind}
	if kind != doctype.NoValue && kind != doctype.Rows {
		f.Column = "c_" + name
	}
	for _, c := range change {
		c(f)
	}
	return f
}

func to(typeName string) func(*doctype.Field) {
	return func(f *doctype.Field) { f.Options = typeName }
}

func unique(f *doctype.Field)  { f.Unique = true }
func indexed(f *doctype.Field) { f.Indexed = true }

// The DocTypes of the suite: a task with a field of every kind, a link and
// two child tables.
func schema() *doctype.Schema {
	priority := doctype.NewDocType(doctype.DocType{Name: "Priority", Table: "tabPriority"}, []*doctype.Field{
		field("title", "Data"),
		field("weight", "Int"),
	})
	step := doctype.NewDocType(doctype.DocType{Name: "Task Step", Table: "tabTask Step", Child: true}, []*doctype.Field{
		field("what", "Data"),
		field("minutes", "Int"),
	})
	task := doctype.NewDocType(doctype.DocType{Name: "Task", Table: "tabTask"}, []*doctype.Field{
		field("title", "Data"),
		field("code", "Data", unique),
		field("status", "Select", indexed),
		field("priority", "Link", to("Priority")),
		field("notes", "Long Text"),
		field("count", "Int"),
		field("done", "Check"),
		field("ratio", "Float"),
		field("due", "Datetime"),
		field("day", "Date"),
		field("at", "Time"),
		field("extra", "JSON"),
		field("section", "Section Break"),
		field("steps", "Table", to("Task Step")),
		field("more", "Table", to("Task Step")),
	})
	return doctype.NewSchema(1, []*doctype.DocType{priority, step, task})
}

// site is a store with the suite's tables.
type site struct {
	document.Store
	sc                   *doctype.Schema
	task, priority, step *doctype.DocType
}

func newSite(t testing.TB, open func(testing.TB) document.Store) *site {
	t.Helper()
	sc := schema()
	s := &site{Store: open(t), sc: sc, task: sc.DocType("Task"), priority: sc.DocType("Priority"), step: sc.DocType("Task Step")}
	s.write(t, document.OwnTx, func(tx document.Tx) error {
		for dt := range sc.All {
			if err := tx.Migrate(t.Context(), dt); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func (s *site) write(t testing.TB, mode document.Mode, fn func(document.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), mode, fn); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func (s *site) read(t testing.TB, fn func(document.Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), fn); err != nil {
		t.Fatalf("read: %v", err)
	}
}

const moment = "2024-02-29 10:11:12.000000"

// doc makes a document with the standard fields set; values are pairs of field
// name and value.
func doc(dt *doctype.DocType, name string, values ...any) *doctype.Document {
	d := doctype.NewDocument(dt)
	d.Put("name", name)
	d.Put("owner", "Administrator")
	d.Put("modified_by", "Administrator")
	d.Put("creation", moment)
	d.Put("modified", moment)
	for i := 0; i < len(values); i += 2 {
		d.Put(values[i].(string), values[i+1])
	}
	return d
}

// insert stores documents, each by itself.
func (s *site) insert(t testing.TB, docs ...*doctype.Document) {
	t.Helper()
	for _, d := range docs {
		s.write(t, document.OneWrite, func(tx document.Tx) error { return tx.Insert(t.Context(), d) })
	}
}

// get reads one document.
func (s *site) get(t testing.TB, dt *doctype.DocType, name string) *doctype.Document {
	t.Helper()
	var d *doctype.Document
	s.read(t, func(tx document.Tx) (err error) {
		d, err = tx.Get(t.Context(), s.sc, dt, name, false)
		return err
	})
	return d
}

// steps makes child rows.
func (s *site) steps(parent string, whats ...string) []*doctype.Document {
	rows := make([]*doctype.Document, len(whats))
	for i, what := range whats {
		rows[i] = doc(s.step, fmt.Sprintf("%s-%s-%d", parent, what, i), "what", what, "idx", int64(i+1), "minutes", int64(10*i))
	}
	return rows
}
