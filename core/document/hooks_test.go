package document_test

import (
	"context"
	"strings"
	"testing"

	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
)

// recorder notes what it is offered, and does to it what it is told.
type recorder struct {
	of     string
	guest  bool
	name   string
	events *[]string
	do     func(ctx context.Context, ev *document.Event) error
}

func (r recorder) Handles(typeName string) bool { return typeName == r.of }
func (r recorder) RunsPlugins(string) bool      { return r.guest }

func (r recorder) Run(ctx context.Context, ev *document.Event) error {
	*r.events = append(*r.events, r.name+ev.Name)
	if r.do != nil {
		return r.do(ctx, ev)
	}
	return nil
}

// Events come in the order of the reference (section 2.6), before the write to
// plugins first.
func TestEvents(t *testing.T) {
	var events []string
	c := document.ServiceConfig{Hooks: []document.Hooks{recorder{"Bill", false, "", &events, nil}, recorder{"Bill", true, "guest ", &events, nil}}}
	s := documenttest.New(t, c, plain("Bill", `"is_submittable": 1, "allow_rename": 1`, `n|Int||"allow_on_submit": 1`), plain("Other", "", "n|Int"))
	saving := "guest before_validate guest validate guest before_save before_validate validate before_save"
	tests := []struct{ step, want string }{
		{"insert|Bill|{\"name\": \"a\"}", "guest before_insert before_insert " + saving + " after_insert guest after_insert on_update guest on_update on_change guest on_change"},
		{"update|Bill/a|{\"n\": 1}", saving + " on_update guest on_update on_change guest on_change"},
		{"rename|Bill/a|b", "before_rename guest before_rename after_rename guest after_rename"},
		{"update|Bill/b|{\"docstatus\": 1}", "guest before_validate guest validate guest before_submit before_validate validate before_submit on_update guest on_update on_submit guest on_submit on_change guest on_change"},
		{"update|Bill/b|{\"n\": 2}", "guest before_update_after_submit before_update_after_submit on_update_after_submit guest on_update_after_submit on_change guest on_change"},
		{"update|Bill/b|{\"docstatus\": 2}", "guest before_cancel before_cancel on_cancel guest on_cancel on_change guest on_change"},
		{"delete|Bill/b|", "on_trash guest on_trash on_change guest on_change after_delete guest after_delete"},
		{"insert|Bill|{\"name\": \"c\", \"docstatus\": 1}", "guest before_insert before_insert guest before_validate guest validate guest before_submit before_validate validate before_submit after_insert guest after_insert on_update guest on_update on_submit guest on_submit on_change guest on_change"},
		{"insert|Bill|{\"name\": \"d\"}", "guest before_insert before_insert " + saving + " after_insert guest after_insert on_update guest on_update on_change guest on_change"},
		{"discard|Bill/d|", "before_discard guest before_discard on_discard guest on_discard"},
		{"insert|Other|{\"name\": \"a\"}", ""},
	}
	for _, test := range tests {
		parts := strings.SplitN(test.step, "|", 3)
		events = nil
		if got := (step{does: parts[0], what: parts[1], values: parts[2]}).run(t, s); strings.HasPrefix(got, "!") {
			t.Fatalf("%s: %s", test.step, got)
		}
		if got := strings.Join(events, " "); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.step, got, test.want)
		}
	}
	if !s.Documents.RunsPlugins("Bill") || s.Documents.RunsPlugins("Other") {
		t.Error("whose changes run the code of guests")
	}
}

// A hook refuses a change, changes the document, and ends where it goes round.
func TestHooks(t *testing.T) {
	var events []string
	var s *documenttest.Site
	c := document.ServiceConfig{Hooks: []document.Hooks{recorder{"Note It", false, "", &events, func(ctx context.Context, ev *document.Event) error {
		switch {
		case ev.Name == document.Validate && ev.Doc.Text("t") == "bad":
			return fault.Invalid("", "it is bad")
		case ev.Name == document.BeforeInsert && ev.Doc.Text("t") == "named":
			ev.Doc.Put("name", "by the hook")
		case ev.Name == document.Validate:
			ev.Doc.Put("n", ev.Doc.Int("n")+1)
		case ev.Name == document.OnUpdate && ev.Doc.Text("t") == "round":
			_, err := s.Documents.As(ev.Caller, ev.Tx).Update(ctx, "Note It", ev.Doc.Name(), map[string]any{"n": ev.Doc.Int("n") + 1})
			return err
		}
		return nil
	}}}}
	s = documenttest.New(t, c, plain("Note It", "", "t|Data", "n|Int"))
	for _, step := range []step{
		{does: "insert", what: "Note It", values: `{"name": "a", "t": "bad"}`, want: "!it is bad"},
		{does: "get", what: "Note It/a", want: "!DoesNotExistError"},
		{does: "insert", what: "Note It", values: `{"name": "a", "n": 1}`, want: `"n":2`},
		{does: "insert", what: "Note It", values: `{"name": "b", "t": "named"}`, want: `"name":"by the hook"`},
		{does: "update", what: "Note It/a", values: `{"t": "round"}`, want: "!Events cause each other more than 10 deep"},
		{does: "get", what: "Note It/a", want: `"n":2`},
	} {
		if got := step.run(t, s); !strings.Contains(got, strings.TrimPrefix(step.want, "!")) {
			t.Errorf("%s %s: %s, want %s", step.does, step.values, got, step.want)
		}
	}
}
