package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

func testDocument(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	t.Run("round trip", func(t *testing.T) { roundTrip(t, s) })
	t.Run("child rows", func(t *testing.T) { childRows(t, s) })
	t.Run("odd names", func(t *testing.T) { oddNames(t, s) })
	t.Run("missing", func(t *testing.T) { missing(t, s) })
	t.Run("duplicate", func(t *testing.T) { duplicate(t, s) })
	t.Run("update", func(t *testing.T) { update(t, s) })
	t.Run("absent", func(t *testing.T) { absent(t, s) })
}

// roundTrip stores a value of every kind and reads back the same one.
func roundTrip(t *testing.T, s *site) {
	values := map[string][]any{
		"title":    {"plain", "", "  spaces ", `"quotes" 'and' \ back`, "emoji 🎉", "line\nbreak\ttab", nil, "'; DROP TABLE x; --"},
		"notes":    {strings.Repeat("long ", 40000), nil},
		"count":    {int64(0), int64(-1), int64(1 << 62), int64(-1 << 63)},
		"done":     {int64(0), int64(1)},
		"ratio":    {0.0, 0.1, -1e300, 99999999999.123456, 5.0},
		"due":      {"2024-01-02 03:04:05.120000", "2024-01-02 03:04:05.000000", "1970-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999", nil},
		"day":      {"2024-02-29", "0001-01-01", "9999-12-31", nil},
		"at":       {"00:00:00.000000", "09:08:07.000000", "23:59:59.120000", nil},
		"extra":    {`{"b": 1, "a": [1.0, null]}`, "[]", nil},
		"priority": {"No such", "", nil},
	}
	for name, all := range values {
		for _, v := range all {
			d := doc(s.task, "round trip", name, v)
			s.insert(t, d)
			got := s.get(t, s.task, "round trip")
			if !slices.Equal(got.Values(), d.Values()) {
				t.Errorf("%s %.80q: stored\n%v, read\n%v", name, v, d.Values(), got.Values())
			}
			want := string(d.AppendJSON(nil, everything))
			if json := s.json(t, s.task, "round trip"); json != want {
				t.Errorf("%s: AppendDocument gives\n%.300s, AppendJSON of the same document\n%.300s", name, json, want)
			}
			s.write(t, document.OneWrite, func(tx document.Tx) error {
				_, err := tx.Delete(t.Context(), s.sc, s.task, "round trip")
				return err
			})
		}
	}
}

var everything = doctype.View{Levels: 0xffff, WithNull: true}

func (s *site) json(t testing.TB, dt *doctype.DocType, name string) string {
	t.Helper()
	var out []byte
	s.read(t, func(tx document.Tx) (err error) {
		out, err = tx.AppendDocument(t.Context(), nil, s.sc, dt, name, everything, nil)
		return err
	})
	return string(out)
}

func childRows(t *testing.T, s *site) {
	d := doc(s.task, "parent")
	d.PutRows("steps", s.steps("parent", "b", "a", "c"))
	d.PutRows("more", nil)
	s.insert(t, d)
	whats := func(table string) (all []string) {
		for _, row := range s.get(t, s.task, "parent").Rows(table) {
			all = append(all, row.Text("what"))
		}
		return all
	}
	if got := whats("steps"); !slices.Equal(got, []string{"b", "a", "c"}) {
		t.Errorf("rows %v, want b a c", got)
	}
	got := s.get(t, s.task, "parent")
	row := got.Rows("steps")[0]
	if row.Text("parent") != "parent" || row.Text("parenttype") != "Task" || row.Text("parentfield") != "steps" {
		t.Errorf("row belongs to %v", row.Values())
	}
	if json, want := s.json(t, s.task, "parent"), string(got.AppendJSON(nil, everything)); json != want {
		t.Errorf("AppendDocument gives\n%s, AppendJSON\n%s", json, want)
	}

	d.PutRows("steps", s.steps("parent", "c", "d"))
	d.PutRows("more", s.steps("more", "m"))
	s.update(t, d, nil, d.Type.Tables, "")
	if got := whats("steps"); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("rows %v after update, want c d", got)
	}
	if got := whats("more"); !slices.Equal(got, []string{"m"}) {
		t.Errorf("rows %v of the other table, want m", got)
	}
	d.PutRows("steps", nil)
	s.update(t, d, nil, d.Type.Tables[:1], "")
	if len(whats("steps")) != 0 || len(whats("more")) != 1 {
		t.Errorf("emptying one table: %v and %v", whats("steps"), whats("more"))
	}

	s.write(t, document.OneWrite, func(tx document.Tx) error {
		deleted, err := tx.Delete(t.Context(), s.sc, s.task, "parent")
		if !deleted {
			t.Error("nothing deleted")
		}
		return err
	})
	if n := s.count(t, &doctype.Select{DocType: s.step}); n != 0 {
		t.Errorf("%d rows are left of a deleted document", n)
	}
}

func (s *site) update(t testing.TB, d *doctype.Document, columns, tables []*doctype.Field, expect string) {
	t.Helper()
	s.write(t, document.OneWrite, func(tx document.Tx) error {
		ok, err := tx.Update(t.Context(), s.sc, d, columns, tables, expect)
		if err == nil && !ok {
			t.Error("nothing updated")
		}
		return err
	})
}

func (s *site) count(t testing.TB, sel *doctype.Select) (n int64) {
	t.Helper()
	s.read(t, func(tx document.Tx) (err error) {
		n, err = tx.Count(t.Context(), sel)
		return err
	})
	return n
}

func oddNames(t *testing.T, s *site) {
	for _, name := range []string{
		"a/b", `it's "quoted"`, "?", "$1", "%", "back\\slash", "🎉 party", " lead", strings.Repeat("é", 140),
		"'; DROP TABLE \"tabTask\"; --", "new\nline", "tab\t", "null", "0", "{a,b}", `{"a"}`,
	} {
		s.insert(t, doc(s.task, name, "title", name))
		if got := s.get(t, s.task, name).Text("title"); got != name {
			t.Errorf("name %q: title %q", name, got)
		}
		var absent []string
		s.read(t, func(tx document.Tx) (err error) {
			absent, err = tx.Absent(t.Context(), s.task, []string{name})
			return err
		})
		if len(absent) != 0 {
			t.Errorf("name %q is absent", name)
		}
	}
}

func missing(t *testing.T, s *site) {
	for _, name := range []string{"nobody", "", "nul\x00byte", "not utf-8 \xff"} {
		err := s.Read(t.Context(), func(tx document.Tx) error {
			_, err := tx.Get(t.Context(), s.sc, s.task, name, false)
			return err
		})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get %q: %v", name, err)
		}
		err = s.Read(t.Context(), func(tx document.Tx) error {
			_, err := tx.AppendDocument(t.Context(), nil, s.sc, s.task, name, everything, nil)
			return err
		})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("AppendDocument %q: %v", name, err)
		}
	}
	err := s.Write(t.Context(), document.OneWrite, func(tx document.Tx) error {
		return tx.Insert(t.Context(), doc(s.task, "nul", "title", "nul\x00byte"))
	})
	if fault.KindOf(err) != fault.Validation {
		t.Errorf("a NUL byte: %v", err)
	}
}

func duplicate(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "first", "code", "A"), doc(s.task, "null code"), doc(s.task, "null code too"))
	for _, mode := range []document.Mode{document.OwnTx, document.GroupedTx, document.OneWrite} {
		err := s.Write(t.Context(), mode, func(tx document.Tx) error {
			return tx.Insert(t.Context(), doc(s.task, "first"))
		})
		var f *fault.Error
		if !errors.As(err, &f) || f.ExcType() != "DuplicateEntryError" || f.Message != "Task first already exists" {
			t.Errorf("mode %d, same name: %v", mode, err)
		}
		err = s.Write(t.Context(), mode, func(tx document.Tx) error {
			return tx.Insert(t.Context(), doc(s.task, "second", "code", "A"))
		})
		if !errors.As(err, &f) || f.ExcType() != "UniqueValidationError" || f.Message != "code must be unique" {
			t.Errorf("mode %d, same unique value: %v", mode, err)
		}
	}
}

func update(t *testing.T, s *site) {
	s.insert(t, doc(s.task, "up", "title", "old", "count", int64(1)))
	d := s.get(t, s.task, "up")
	d.Put("title", "new")
	d.Put("count", int64(2))
	d.Put("modified", "2024-03-01 00:00:00.000001")
	title := []*doctype.Field{s.task.Field("title"), s.task.Columns[doctype.ColModified]}
	s.update(t, d, title, nil, moment)
	if got := s.get(t, s.task, "up"); got.Text("title") != "new" || got.Int("count") != 1 {
		t.Errorf("after update: %v", got.Values())
	}
	for name, try := range map[string]func(document.Tx) (bool, error){
		"stale": func(tx document.Tx) (bool, error) { return tx.Update(t.Context(), s.sc, d, title, nil, moment) },
		"gone": func(tx document.Tx) (bool, error) {
			return tx.Update(t.Context(), s.sc, doc(s.task, "gone"), title, nil, "")
		},
		"no columns": func(tx document.Tx) (bool, error) { return tx.Update(t.Context(), s.sc, d, nil, nil, moment) },
	} {
		s.write(t, document.GroupedTx, func(tx document.Tx) error {
			ok, err := try(tx)
			if ok {
				t.Errorf("%s: updated", name)
			}
			return err
		})
	}
}

func absent(t *testing.T, s *site) {
	s.insert(t, doc(s.priority, "High"), doc(s.priority, "Low"))
	names := []string{"Low", "Lower", "High", "", "nul\x00", "high"}
	s.read(t, func(tx document.Tx) error {
		got, err := tx.Absent(t.Context(), s.priority, names)
		if want := []string{"Lower", "", "nul\x00", "high"}; !slices.Equal(got, want) {
			t.Errorf("absent %q, want %q", got, want)
		}
		return err
	})
}
