package storetest

import (
	"errors"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
)

// testNeed writes only where what the document links to exists, in every mode.
func testNeed(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	s.insert(t, doc(s.priority, "High", "title", "High"))
	there, gone := document.Need{DocType: s.priority, Name: "High"}, document.Need{DocType: s.priority, Name: "Gone"}

	modes := map[string]document.Mode{"alone": document.OwnTx, "brief": document.GroupedTx, "single": document.OneWrite}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			s.write(t, mode, func(tx document.Tx) error {
				return tx.Insert(t.Context(), doc(s.task, name, "priority", "High", "day", "2024-02-29"), there, there)
			})
			if got := s.get(t, s.task, name).Text("day"); got != "2024-02-29" {
				t.Errorf("stored %q", got)
			}
			err := s.Write(t.Context(), mode, func(tx document.Tx) error {
				return tx.Insert(t.Context(), doc(s.task, name+" 2", "priority", "Gone"), there, gone)
			})
			if !errors.Is(err, document.ErrUnmet) {
				t.Errorf("insert: %v", err)
			}
			update := func(need document.Need) (done bool) {
				s.write(t, mode, func(tx document.Tx) (err error) {
					d := s.get(t, s.task, name)
					d.Put("title", need.Name)
					done, err = tx.Update(t.Context(), s.sc, d, []*doctype.Field{s.task.Field("title")}, nil, d.Modified(), need)
					return err
				})
				return done
			}
			if update(gone) || !update(there) {
				t.Error("an update happens where what it needs exists, and only there")
			}
			if got := s.get(t, s.task, name).Text("title"); got != "High" {
				t.Errorf("stored %q", got)
			}
		})
	}
	t.Run("the transaction goes on", func(t *testing.T) {
		s.write(t, document.OwnTx, func(tx document.Tx) error {
			if err := tx.Insert(t.Context(), doc(s.task, "first try"), gone); !errors.Is(err, document.ErrUnmet) {
				t.Errorf("insert: %v", err)
			}
			return tx.Insert(t.Context(), doc(s.task, "second try"))
		})
		s.get(t, s.task, "second try")
	})
}
