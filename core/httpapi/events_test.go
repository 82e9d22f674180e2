package httpapi_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// recorder stands where plugins do and notes the events of one DocType.
type recorder struct {
	doctype string
	tenant  *tenant.Tenant // to save more documents from an event

	mu     sync.Mutex
	events []string
	refuse string // the event that refuses
}

func (r *recorder) Handles(doctype string) bool { return doctype == r.doctype }
func (r *recorder) RunsPlugins(string) bool     { return true }

func (r *recorder) Run(ctx context.Context, ev *document.Event) error {
	r.mu.Lock()
	r.events = append(r.events, ev.Name)
	refuse := r.refuse
	r.mu.Unlock()
	switch {
	case ev.Name == refuse:
		return fmt.Errorf("refused by %s", refuse)
	case ev.Name == document.OnUpdate && ev.Doc.Text("note") == "for ever":
		_, err := r.tenant.Documents.As(identity.Root(), ev.Tx).Insert(ctx, r.doctype, map[string]any{"note": "for ever"})
		return err
	}
	return nil
}

// took returns what was noted since the last call.
func (r *recorder) took() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func eachWithEvents(t *testing.T, test func(t *testing.T, s *sitetest.Server, r *recorder)) {
	rec := &recorder{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Deed", []obj{{"fieldname": "note", "fieldtype": "Data", "allow_on_submit": 1}},
			obj{"is_submittable": 1, "permissions": []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1,
				"delete": 1, "submit": 1, "cancel": 1, "amend": 1}}})
		rec.mu.Lock()
		rec.doctype, rec.tenant, rec.refuse, rec.events = "Deed", s.Tenant, "", nil
		rec.mu.Unlock()
		test(t, s, rec)
	}, sitetest.WithHooks(rec))
}

// TestOrderOfEvents follows a document through its life (reference, section
// 2.6).
func TestOrderOfEvents(t *testing.T) {
	eachWithEvents(t, func(t *testing.T, s *sitetest.Server, rec *recorder) {
		const path = "/api/resource/Deed/"
		create := func(body obj) string { return path + s.Admin.Post("/api/resource/Deed", body).Data(t)["name"].(string) }
		expect := func(what string, want ...string) {
			t.Helper()
			if got := rec.took(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n got %v\nwant %v", what, got, want)
			}
		}
		deed := create(obj{})
		expect("insert", "before_insert", "before_validate", "validate", "before_save", "after_insert", "on_update", "on_change")
		s.Admin.Put(deed, obj{"note": "x"}).OK(t)
		expect("save", "before_validate", "validate", "before_save", "on_update", "on_change")
		s.Admin.Put(deed, obj{"docstatus": 1}).OK(t)
		expect("submit", "before_validate", "validate", "before_submit", "on_update", "on_submit", "on_change")
		s.Admin.Put(deed, obj{"note": "y"}).OK(t)
		expect("update after submit", "before_update_after_submit", "on_update_after_submit", "on_change")
		s.Admin.Put(deed, obj{"docstatus": 2}).OK(t)
		expect("cancel", "before_cancel", "on_cancel", "on_change")
		s.Admin.Delete(deed)
		expect("delete", "on_trash", "on_change", "after_delete")
		create(obj{"docstatus": 1})
		expect("insert submitted", "before_insert", "before_validate", "validate", "before_submit", "after_insert", "on_update", "on_submit", "on_change")
		deed = create(obj{})
		rec.took()
		s.Admin.Post(deed, obj{"run_method": "rename", "name": "Renamed"}).OK(t)
		expect("rename", "before_rename", "after_rename")
		s.Admin.Post(path+"Renamed", obj{"run_method": "discard"}).OK(t)
		expect("discard", "before_discard", "on_discard")
	})
}

// TestRefusedByEvent: whichever event refuses, nothing is stored.
func TestRefusedByEvent(t *testing.T) {
	eachWithEvents(t, func(t *testing.T, s *sitetest.Server, rec *recorder) {
		for _, name := range []string{"before_insert", "validate", "before_save", "after_insert", "on_update", "on_change"} {
			rec.mu.Lock()
			rec.refuse = name
			rec.mu.Unlock()
			if r := s.Admin.Post("/api/resource/Deed", obj{}); r.Status != 500 {
				t.Errorf("%s: %d %s", name, r.Status, r.Text)
			}
		}
		if got := s.Admin.Get("/api/resource/Deed").List(t); len(got) != 0 {
			t.Errorf("stored %v", got)
		}
	})
}

// TestEventsWithoutEnd: an event that causes itself ends, and nothing is stored.
func TestEventsWithoutEnd(t *testing.T) {
	eachWithEvents(t, func(t *testing.T, s *sitetest.Server, _ *recorder) {
		s.Admin.Post("/api/resource/Deed", obj{"note": "for ever"}).Fails(t, 417, "ValidationError")
		if got := s.Admin.Get("/api/resource/Deed").List(t); len(got) != 0 {
			t.Errorf("stored %v", got)
		}
	})
}
