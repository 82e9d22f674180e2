package storetest

import (
	"context"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// replacer is the part of a Tx that renaming uses.
type replacer interface {
	Replace(ctx context.Context, dt *doctype.DocType, f *doctype.Field, where doctype.Where, value any) (int64, error)
	Return(ctx context.Context, counter string, value int64) error
}

// testReplace: one field of many documents, by itself and inside a transaction.
func testReplace(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	values := []struct {
		field string
		value any
	}{
		{"priority", "Renamed"}, {"notes", nil}, {"count", int64(7)}, {"count", nil}, {"done", int64(1)}, {"ratio", 0.5},
		{"due", moment}, {"due", nil}, {"day", "2024-02-29"}, {"at", "09:08:07.120000"}, {"extra", `{"a": 1}`},
	}
	for _, name := range []string{"one", "two", "other"} {
		s.insert(t, doc(s.task, name, "priority", "Old"))
	}
	few := s.cmp("name", query.In, []any{"one", "two", "nobody"})
	for _, m := range modes {
		for _, v := range values {
			var n int64
			s.write(t, m.mode, func(tx document.Tx) (err error) {
				n, err = tx.(replacer).Replace(t.Context(), s.task, s.task.Field(v.field), few, v.value)
				return err
			})
			want := v.value
			if v.value == nil && v.field == "count" {
				want = int64(0)
			}
			if got := s.get(t, s.task, "two").Get(v.field); n != 2 || got != want {
				t.Errorf("%s: %s is %v, want %v; %d changed, want 2", m.name, v.field, got, want, n)
			}
		}
	}
	if got := s.get(t, s.task, "other"); got.Text("priority") != "Old" || got.Get("due") != nil {
		t.Errorf("another document: %v", got.Values())
	}
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		_, err := tx.(replacer).Replace(t.Context(), s.task, s.task.Field("code"), nil, "same")
		return err
	})
	if fault.KindOf(err) != fault.Validation {
		t.Errorf("one unique value for all: %v", err)
	}
	err = s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		_, err := tx.(replacer).Replace(t.Context(), s.task, s.task.Field("name"), s.cmp("name", query.Eq, "one"), "two")
		return err
	})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("a taken name: %v", err)
	}

	var n int64
	next := func(tx document.Tx) (err error) {
		n, err = tx.Next(t.Context(), "back")
		return err
	}
	s.write(t, document.GroupedTx, next)
	s.write(t, document.GroupedTx, next)
	for _, tt := range []struct{ back, next int64 }{{2, 2}, {1, 3}, {9, 4}} {
		s.write(t, document.GroupedTx, func(tx document.Tx) error {
			return tx.(replacer).Return(t.Context(), "back", tt.back)
		})
		s.write(t, document.GroupedTx, next)
		if n != tt.next {
			t.Errorf("after %d came back the counter gives %d, want %d", tt.back, n, tt.next)
		}
	}
}
