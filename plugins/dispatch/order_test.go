package dispatch_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// trip makes a submittable DocType whose events a guest notes down.
func trip(t *testing.T, s *site) {
	t.Helper()
	s.write(func(tx document.Tx) error {
		_, err := s.documents.As(identity.Root(), tx).Insert(t.Context(), "DocType", m{
			"name": "Trip Stop", "custom": json.Number("1"), "istable": json.Number("1"),
			"fields": []any{m{"fieldname": "place", "fieldtype": "Data"}},
		})
		return err
	})
	s.write(func(tx document.Tx) error {
		_, err := s.documents.As(identity.Root(), tx).Insert(t.Context(), "DocType", m{
			"name": "Trip", "custom": json.Number("1"), "is_submittable": json.Number("1"), "autoname": "hash",
			"fields": []any{
				m{"fieldname": "to", "fieldtype": "Data"},
				m{"fieldname": "stops", "fieldtype": "Table", "options": "Trip Stop"},
				m{"fieldname": "remark", "fieldtype": "Data", "allow_on_submit": json.Number("1")},
			},
			"permissions": []any{m{"role": "System Manager", "read": json.Number("1"), "write": json.Number("1"), "create": json.Number("1")}},
		})
		return err
	})
}

func (s *site) write(fn func(document.Tx) error) {
	s.t.Helper()
	if err := s.store.Write(s.t.Context(), document.OwnTx, fn); err != nil {
		s.t.Fatal(err)
	}
}

// noted returns the events noted since the last time, in order.
func (s *site) noted() []string {
	s.t.Helper()
	var list []struct{ Title, Name string }
	s.write(func(tx document.Tx) error {
		q, err := query.Parse(func(arg string) any {
			switch arg {
			case "fields":
				return []any{"name", "title"}
			case "order_by":
				return "creation asc"
			case "limit_page_length":
				return "0"
			}
			return nil
		})
		if err != nil {
			return err
		}
		text, err := s.documents.As(identity.Root(), tx).AppendList(s.t.Context(), nil, "Note", q)
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		for _, n := range list {
			if err == nil {
				err = s.documents.As(identity.Root(), tx).Delete(s.t.Context(), "Note", n.Name)
			}
		}
		return err
	})
	var events []string
	for _, n := range list {
		events = append(events, n.Title)
	}
	return events
}

// TestOrderOfEvents: a guest hears the events of a document's life in the order
// of the reference.
func TestOrderOfEvents(t *testing.T) {
	s := newSite(t).with(events)
	trip(t, s)
	heard := func(want string) {
		t.Helper()
		if got := s.noted(); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("heard %v, want %v", got, want)
		}
	}
	name := s.mustInsert("Trip", m{"to": "Rome"})
	heard("before_insert before_validate validate before_save after_insert on_update on_change")
	update := func(values m) {
		t.Helper()
		s.write(func(tx document.Tx) error {
			_, err := s.documents.As(identity.Root(), tx).Update(t.Context(), "Trip", name, values)
			return err
		})
	}
	update(m{"to": "Paris"})
	heard("before_validate validate before_save on_update on_change")
	update(m{"docstatus": json.Number("1")})
	heard("before_validate validate before_submit on_update on_submit on_change")
	update(m{"remark": "sunny"})
	heard("before_update_after_submit on_update_after_submit on_change")
	update(m{"docstatus": json.Number("2")})
	heard("before_cancel on_cancel on_change")
	s.write(func(tx document.Tx) error {
		return s.documents.As(identity.Root(), tx).Delete(t.Context(), "Trip", name)
	})
	heard("on_trash on_change after_delete")

	// A handler may set rows, and nothing that the platform keeps.
	doc := s.mustGet("Trip", s.mustInsert("Trip", m{"to": "Ulm and back"}))
	rows := doc.Rows("stops")
	if len(rows) != 2 || rows[1].Text("place") != "home" || rows[1].Text("parent") != doc.Name() || rows[1].Int("idx") != 2 {
		t.Errorf("stops %v", rows)
	}
	if doc.Docstatus() != 0 || doc.Owner() != identity.Administrator {
		t.Errorf("docstatus %d, owner %s", doc.Docstatus(), doc.Owner())
	}
	s.write(func(tx document.Tx) error {
		return s.documents.As(identity.Root(), tx).Delete(t.Context(), "Trip", doc.Name())
	})
	s.noted()

	// Refusing is throwing, at whatever event, and leaves nothing behind.
	for _, event := range []string{"before_insert", "validate", "before_save", "after_insert", "on_update", "on_change"} {
		_, err := s.insert("Trip", m{"to": event})
		if f := fault.From(err); f.Kind != fault.Validation || !strings.Contains(f.Message, "simply") {
			t.Errorf("%s: %v", event, err)
		}
	}
	heard("")
	if n := s.count("Trip"); n != 0 {
		t.Errorf("%d trips", n)
	}
}
