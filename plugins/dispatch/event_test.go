package dispatch_test

import (
	"strings"
	"testing"

	"armature/core/fault"
)

func TestEvents(t *testing.T) {
	s := newSite(t).with(events)
	name := s.mustInsert("ToDo", m{"description": "first"})
	doc := s.mustGet("ToDo", name)
	if doc.Text("description") != "validate of a new document" || doc.Text("status") != "Closed" {
		t.Errorf("stored %q, %q", doc.Text("description"), doc.Text("status"))
	}
	// on_update of the same write inserted a Note in the same transaction.
	if got := s.count("Note"); got != 1 {
		t.Errorf("%d notes", got)
	}
}

func TestEventRefuses(t *testing.T) {
	s := newSite(t).with(events)
	_, err := s.insert("ToDo", m{"description": "refuse"})
	if f := fault.From(err); f.Kind != fault.Validation || f.ExcType() != "NotToday" || f.Message != "not today" {
		t.Errorf("error %v", err)
	}
	if _, err := s.insert("ToDo", m{"description": "list"}); fault.KindOf(err) != fault.Trap {
		t.Errorf("an output that is no object: %v", err)
	}
	if n := s.count("ToDo") + s.count("Note"); n != 0 {
		t.Errorf("%d documents were stored", n)
	}
	name := s.mustInsert("ToDo", m{"description": "owner"})
	if owner := s.mustGet("ToDo", name).Owner(); owner != "Administrator" {
		t.Errorf("a handler has made %s the owner", owner)
	}
}

// TestEventInGuest: the write of a guest has the handlers of guests run.
func TestEventInGuest(t *testing.T) {
	s := newSite(t).with(events)
	got, err := s.run("POST", "t.events.insert", m{"doc": m{"doctype": "ToDo", "description": "by a guest"}})
	if err != nil {
		t.Fatal(err)
	}
	// The plugin may create a ToDo and read none: it learns the name.
	doc, _ := got.(m)
	name, _ := doc["name"].(string)
	if _, told := doc["description"]; name == "" || told {
		t.Fatalf("inserted %v", got)
	}
	if text := s.mustGet("ToDo", name).Text("description"); text != "validate of a new document" {
		t.Errorf("stored %q", text)
	}
	if got := s.count("Note"); got != 1 {
		t.Errorf("%d notes", got)
	}
	// A handler's error is the guest's to pass on, type and all.
	_, err = s.run("POST", "t.events.insert", m{"doc": m{"doctype": "ToDo", "description": "refuse"}})
	if f := fault.From(err); f.ExcType() != "NotToday" {
		t.Errorf("error %v", err)
	}
}

// TestEventWithoutEnd: a handler that causes its own event ends at the depth of
// nesting.
func TestEventWithoutEnd(t *testing.T) {
	s := newSite(t).with(events)
	_, err := s.insert("Note", m{"title": "for ever"})
	if f := fault.From(err); f.Kind != fault.Exhausted || !strings.Contains(f.Message, "nested") {
		t.Errorf("error %v", err)
	}
	if n := s.count("Note"); n != 0 {
		t.Errorf("%d notes", n)
	}
}
