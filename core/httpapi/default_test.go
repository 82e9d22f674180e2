package httpapi_test

import (
	"context"
	"testing"

	"armature/core/access"
	"armature/core/document"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// TestDefaults: what is sent beats the default, null does not, and rows that are
// added later have theirs.
func TestDefaults(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Line", []obj{{"fieldname": "on", "fieldtype": "Check", "default": "1"}, {"fieldname": "n", "fieldtype": "Int", "default": "7"}},
			obj{"istable": 1, "permissions": nil})
		newDocType(t, s.Admin, "Form", []obj{{"fieldname": "on", "fieldtype": "Check", "default": "1"},
			{"fieldname": "word", "fieldtype": "Data", "default": "hello"},
			{"fieldname": "first", "fieldtype": "Select", "options": "A\nB"},
			{"fieldname": "blank", "fieldtype": "Select", "options": "\nA\nB"},
			{"fieldname": "by", "fieldtype": "Data", "default": "__user"},
			{"fieldname": "lines", "fieldtype": "Table", "options": "Line"}}, nil)
		d := s.Admin.Post("/api/resource/Form", obj{"on": 0, "word": nil, "lines": []obj{{"on": 0}, {}}}).Data(t)
		if d["on"] != 0.0 || d["word"] != "hello" || d["first"] != "A" || d["blank"] != nil || d["by"] != "Administrator" {
			t.Errorf("document %v", d)
		}
		rows := d["lines"].([]any)
		if a, b := rows[0].(obj), rows[1].(obj); a["on"] != 0.0 || a["n"] != 7.0 || b["on"] != 1.0 {
			t.Errorf("rows %v", rows)
		}
		path := "/api/resource/Form/" + d["name"].(string)
		rows = s.Admin.Put(path, obj{"lines": []obj{{"name": rows[0].(obj)["name"]}, {"n": 1}}}).Data(t)["lines"].([]any)
		if a, b := rows[0].(obj), rows[1].(obj); a["on"] != 0.0 || b["on"] != 1.0 || b["n"] != 1.0 {
			t.Errorf("rows %v", rows)
		}
		if got := s.Admin.Put(path, obj{"word": nil}).Data(t)["word"]; got != nil {
			t.Errorf("null clears what is stored: %v", got)
		}
	})
}

// setter stands where plugins do and sets fields before the write, child tables
// and what is not its own among them.
type setter struct{ tenant *tenant.Tenant }

func (h *setter) Handles(doctype string) bool { return doctype == "Note" }
func (h *setter) RunsPlugins(string) bool     { return true }

func (h *setter) Run(_ context.Context, ev *document.Event) error {
	if ev.Name != document.Validate {
		return nil
	}
	return h.tenant.Documents.Assign(ev, map[string]any{
		"public": true, "owner": "Guest", "docstatus": 1, "nonsense": 1,
		"seen_by": []any{map[string]any{"user": "Administrator"}, map[string]any{"user": "Guest"}},
	}, document.Settable{Fields: []string{access.AllFields}})
}

func TestEventSetsFields(t *testing.T) {
	h := &setter{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		h.tenant = s.Tenant
		d := s.Admin.Post("/api/resource/Note", obj{"title": "x"}).Data(t)
		if d["public"] != 1.0 || d["owner"] != "Administrator" || d["docstatus"] != 0.0 {
			t.Errorf("document %v", d)
		}
		stored := s.Admin.Get("/api/resource/Note/" + d["name"].(string)).Data(t)["seen_by"].([]any)
		if len(stored) != 2 {
			t.Fatalf("rows %v", stored)
		}
		second := stored[1].(obj)
		if second["user"] != "Guest" || second["idx"] != 2.0 || second["parent"] != d["name"] || second["owner"] != "Administrator" || second["creation"] == nil {
			t.Errorf("row %v", second)
		}
	}, sitetest.WithHooks(h))
}
