package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

func testMigrate(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	t.Run("again", func(t *testing.T) { migrateAgain(t, s) })
	t.Run("new fields", func(t *testing.T) { newFields(t, s) })
	t.Run("wider", func(t *testing.T) { wider(t, s) })
	t.Run("unique", func(t *testing.T) { uniqueIndexes(t, s) })
	t.Run("unwanted indexes", func(t *testing.T) { unwantedIndexes(t, s) })
	t.Run("left table", func(t *testing.T) { leftTable(t, s) })
	t.Run("left columns", func(t *testing.T) { leftColumns(t, s) })
	t.Run("rolled back", func(t *testing.T) { migrateRolledBack(t, s) })
	t.Run("refused", func(t *testing.T) { migrateRefused(t, s) })
	t.Run("long names", func(t *testing.T) { longNames(t, s) })
	t.Run("under readers", func(t *testing.T) { migrateUnderReaders(t, s) })
}

func (s *site) migrate(t testing.TB, dt *doctype.DocType) {
	t.Helper()
	s.write(t, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), dt) })
}

func migrateAgain(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "kept"))
	s.migrate(t, s.task)
	s.migrate(t, s.task)
	s.get(t, s.task, "kept")
}

// version makes a DocType of one table with other fields.
func version(fields ...*doctype.Field) *doctype.DocType {
	return doctype.NewDocType(doctype.DocType{Name: "Changing", Table: "tabChanging"}, fields)
}

// newFields: documents from before have zeros and nulls.
func newFields(t *testing.T, s *site) {
	one := version(field("a", "Data"))
	s.migrate(t, one)
	s.insert(t, doc(one, "before", "a", "x"))
	two := version(field("a", "Data"), field("n", "Int"), field("c", "Check"), field("f", "Float"),
		field("d", "Date", indexed), field("l", "Link", to("Priority")), field("j", "JSON"))
	s.migrate(t, two)
	s.insert(t, doc(two, "after", "a", "y", "n", int64(5), "d", "2024-01-01"))
	d := s.get(t, two, "before")
	if d.Text("a") != "x" || d.Get("n") != int64(0) || d.Get("f") != 0.0 || d.Get("d") != nil {
		t.Errorf("before: %v", d.Values())
	}
	// The old definition still works: another process may not know the new one.
	s.insert(t, doc(one, "old process", "a", "z"))
	if d := s.get(t, two, "old process"); d.Get("n") != int64(0) {
		t.Errorf("stored by the old definition: %v", d.Values())
	}
	three := version(field("n", "Int")) // a column is hidden, never dropped
	s.migrate(t, three)
	s.insert(t, doc(three, "without a", "n", int64(1)))
	if d := s.get(t, two, "before"); d.Text("a") != "x" {
		t.Errorf("a hidden column lost its values: %v", d.Values())
	}
}

func wider(t *testing.T, s *site) {
	link := field("w", "Link", to("Priority"))
	long := field("w", "Long Text")
	one := doctype.NewDocType(doctype.DocType{Name: "Wider", Table: "tabWider"}, []*doctype.Field{link})
	two := doctype.NewDocType(doctype.DocType{Name: "Wider", Table: "tabWider"}, []*doctype.Field{long})
	s.migrate(t, one)
	s.insert(t, doc(one, "w", "w", "short"))
	s.migrate(t, two)
	text := strings.Repeat("x", 1000)
	s.insert(t, doc(two, "w2", "w", text))
	s.migrate(t, one) // never narrower
	if got := s.get(t, one, "w2").Text("w"); got != text {
		t.Errorf("%d characters are left of 1000", len(got))
	}
}

func uniqueIndexes(t *testing.T, s *site) {
	build := func(change ...func(*doctype.Field)) *doctype.DocType {
		return doctype.NewDocType(doctype.DocType{Name: "Uniq", Table: "tabUniq"}, []*doctype.Field{field("u", "Data", change...)})
	}
	plain, uniq := build(), build(unique)
	s.migrate(t, plain)
	s.insert(t, doc(plain, "a", "u", "same"), doc(plain, "b", "u", "same"))
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), uniq) })
	var f *fault.Error
	if !errors.As(err, &f) || f.ExcType() != "UniqueValidationError" {
		t.Errorf("unique over equal values: %v", err)
	}
	s.write(t, document.OneWrite, func(tx document.Tx) error {
		_, err := tx.Delete(t.Context(), s.sc, plain, "b")
		return err
	})
	s.migrate(t, uniq)
	insert := func(dt *doctype.DocType, name string) error {
		return s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
			return tx.Insert(t.Context(), doc(dt, name, "u", "same"))
		})
	}
	if err := insert(uniq, "c"); !errors.As(err, &f) || f.ExcType() != "UniqueValidationError" {
		t.Errorf("a taken value: %v", err)
	}
	s.migrate(t, plain)
	if err := insert(plain, "c"); err != nil {
		t.Errorf("no longer unique: %v", err)
	}
}

// unwantedIndexes: a unique field that leaves the definition refuses nothing any
// more, though its column stays: documents without it have equal zeros there.
func unwantedIndexes(t *testing.T, s *site) {
	build := func(fields ...*doctype.Field) *doctype.DocType {
		return doctype.NewDocType(doctype.DocType{Name: "Unwanted", Table: "tabUnwanted"}, fields)
	}
	before := build(field("a", "Data", indexed), field("n", "Int", unique), field("l", "Link", to("Priority")))
	s.migrate(t, before)
	s.insert(t, doc(before, "one", "n", int64(1)), doc(before, "zero"))
	after := build(field("a", "Data"), field("l", "Data"))
	s.migrate(t, after)
	s.insert(t, doc(after, "two"), doc(after, "three"))
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), before) })
	if fault.From(err).ExcType() != "UniqueValidationError" {
		t.Errorf("unique again, over equal zeros: %v", err)
	}
}

// leftColumns: fields of other types under the names of a deleted DocType's,
// unique and indexed as those were, are as unique as they say, time and again.
func leftColumns(t *testing.T, s *site) {
	values := map[string]any{"Data": "x", "Int": int64(1), "Date": "2024-01-01", "Datetime": moment}
	for i, typ := range []string{"Data", "Int", "Date", "Data", "Datetime"} {
		fields := []*doctype.Field{field("u", typ, unique), field("i", typ, indexed)}
		if typ == "Data" {
			fields = append(fields, field("l", "Link", to("Priority")))
		} else {
			fields = append(fields, field("l", typ))
		}
		dt := doctype.NewDocType(doctype.DocType{Name: "Again", Table: "tabAgain"}, fields)
		s.migrate(t, dt)
		first := fmt.Sprint("first", i)
		s.insert(t, doc(dt, first, "u", values[typ], "i", values[typ], "l", values[typ]))
		if d := s.get(t, dt, first); d.Get("u") != values[typ] || d.Get("i") != values[typ] || d.Get("l") != values[typ] {
			t.Errorf("%d %s: %v", i, typ, d.Values())
		}
		err := s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
			return tx.Insert(t.Context(), doc(dt, fmt.Sprint("second", i), "u", values[typ]))
		})
		if fault.From(err).ExcType() != "UniqueValidationError" {
			t.Errorf("%d %s: a taken value: %v", i, typ, err)
		}
	}
}

// leftTable: a DocType made under the name of a deleted one finds its table.
func leftTable(t *testing.T, s *site) {
	left := doctype.NewDocType(doctype.DocType{Name: "Left", Table: "tabLeft"}, []*doctype.Field{
		field("a", "Data"), field("b", "Int"), field("u", "Data", unique)})
	s.migrate(t, left)
	s.insert(t, doc(left, "old", "a", "text", "b", int64(1), "u", "same"))
	again := doctype.NewDocType(doctype.DocType{Name: "Left", Table: "tabLeft"}, []*doctype.Field{
		field("a", "Float"), field("b", "Int"), field("u", "Data"), field("c", "Datetime")})
	s.migrate(t, again)
	s.insert(t, doc(again, "new", "a", 1.5, "b", int64(2), "u", "same", "c", moment))
	if d := s.get(t, again, "new"); d.Get("a") != 1.5 || d.Get("c") != moment {
		t.Errorf("new: %v", d.Values())
	}
	if d := s.get(t, again, "old"); d.Get("a") != 0.0 || d.Get("b") != int64(1) {
		t.Errorf("old: %v", d.Values())
	}
}

func migrateRolledBack(t *testing.T, s *site) {
	dt := doctype.NewDocType(doctype.DocType{Name: "Undone", Table: "tabUndone"}, []*doctype.Field{field("a", "Data")})
	s.write(t, document.OwnTx, func(tx document.Tx) error {
		if err := tx.Migrate(t.Context(), dt); err != nil {
			return err
		}
		if err := tx.Insert(t.Context(), doc(dt, "x")); err != nil {
			return err
		}
		return document.ErrRollback
	})
	err := s.Read(t.Context(), func(tx document.Tx) error {
		_, err := tx.Get(t.Context(), s.sc, dt, "x", false)
		return err
	})
	if err == nil || fault.KindOf(err) == fault.NotFound {
		t.Errorf("the table is there: %v", err)
	}
}

func migrateRefused(t *testing.T, s *site) {
	many := make([]*doctype.Field, 1000)
	for i := range many {
		many[i] = field(fmt.Sprintf("f%d", i), "Data")
	}
	for name, dt := range map[string]*doctype.DocType{
		"too many columns": doctype.NewDocType(doctype.DocType{Name: "Many", Table: "tabMany"}, many),
		"long table name":  doctype.NewDocType(doctype.DocType{Name: "Long", Table: strings.Repeat("t", 61)}, nil),
		"long column name": version(field(strings.Repeat("f", 61), "Data")),
	} {
		err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), dt) })
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	// A statement with a column that is not there is an error, not a string.
	misspelt := version(field("misspelt", "Data"))
	err := s.Read(t.Context(), func(tx document.Tx) error {
		_, err := tx.Count(t.Context(), &doctype.Select{DocType: misspelt, Where: doctype.Compare{
			Operand: doctype.Operand{Field: misspelt.Field("misspelt")}, Op: query.Eq, Value: "c_misspelt"}})
		return err
	})
	if err == nil {
		t.Error("a column that is not there was compared")
	}
}

func longNames(t *testing.T, s *site) {
	name := strings.Repeat("é", 30) // 60 bytes
	f := field("x", "Data", unique)
	f.Column = strings.Repeat(`"c`, 30)
	g := field("y", "Data", unique)
	g.Column = strings.Repeat(`"c`, 29) + "d"
	dt := doctype.NewDocType(doctype.DocType{Name: "Long", Table: name}, []*doctype.Field{f, g})
	s.migrate(t, dt)
	s.insert(t, doc(dt, "a", "x", "1", "y", "1"))
	err := s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
		return tx.Insert(t.Context(), doc(dt, "b", "x", "2", "y", "1"))
	})
	var e *fault.Error
	if !errors.As(err, &e) || e.Message != "y must be unique" {
		t.Errorf("unique column with a long name: %v", err)
	}
}

// migrateUnderReaders adds columns while eight read the table and two write it.
func migrateUnderReaders(t *testing.T, s *site) {
	one := doctype.NewDocType(doctype.DocType{Name: "Busy", Table: "tabBusy"}, []*doctype.Field{field("a", "Data")})
	s.migrate(t, one)
	for i := range 50 {
		s.insert(t, doc(one, fmt.Sprintf("d%02d", i), "a", "x"))
	}
	var current atomic.Pointer[doctype.DocType]
	current.Store(one)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var reads atomic.Int64
	for w := range 10 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				dt := current.Load()
				var err error
				if w < 8 {
					err = s.Read(t.Context(), func(tx document.Tx) error {
						sel := &doctype.Select{DocType: dt, Length: 20, Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("modified")}}}}
						for _, f := range dt.Columns {
							sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: f}, Key: f.Name})
						}
						_, _, err := tx.AppendRows(t.Context(), nil, sel, false)
						if err == nil {
							_, err = tx.Get(t.Context(), s.sc, dt, "d07", false)
						}
						return err
					})
					reads.Add(1)
				} else {
					d := doc(dt, fmt.Sprintf("w%d-%d", w, i))
					err = s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error { return tx.Insert(t.Context(), d) })
				}
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	for i := range 10 {
		fields := []*doctype.Field{field("a", "Data")} // a DocType's fields are its own
		for n := range i + 1 {
			fields = append(fields, field(fmt.Sprintf("n%d", n), []string{"Data", "Int", "Datetime", "Link"}[n%4]))
		}
		next := doctype.NewDocType(doctype.DocType{Name: "Busy", Table: "tabBusy"}, fields)
		s.migrate(t, next)
		current.Store(next)
	}
	close(stop)
	wg.Wait()
	t.Logf("%d reads while 10 columns were added", reads.Load())
}
