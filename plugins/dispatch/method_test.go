package dispatch_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"armature/core/fault"
)

func TestTodo(t *testing.T) {
	s := newSite(t).with(todo)
	name := s.mustInsert("ToDo", m{"description": "Call Zoë"})

	// A GET writes, answers, and is rolled back.
	got, err := s.run("GET", "acme.todo.close", m{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	if doc, _ := got.(m); doc["status"] != "Closed" || doc["name"] != name || doc["doctype"] != "ToDo" {
		t.Errorf("closed %v", got)
	}
	if status := s.mustGet("ToDo", name).Text("status"); status != "Open" {
		t.Errorf("after a GET the status is %s", status)
	}

	if _, err := s.run("POST", "acme.todo.close", m{"name": name}); err != nil {
		t.Fatal(err)
	}
	if status := s.mustGet("ToDo", name).Text("status"); status != "Closed" {
		t.Errorf("after a POST the status is %s", status)
	}

	got, err = s.run("GET", "acme.todo.summary", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (m{"user": "Administrator", "total": 1.0, "by_status": m{"Closed": 1.0}}); !reflect.DeepEqual(got, want) {
		t.Errorf("summary %v, want %v", got, want)
	}
	if got, err := s.run("POST", "acme.todo.echo", m{"a": []any{1.5, "x", nil}}); err != nil || !reflect.DeepEqual(got, m{"a": []any{1.5, "x", nil}}) {
		t.Errorf("echo %v, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	s := newSite(t).with(todo, misbehave, events)
	name := s.mustInsert("Note", m{"title": "a note"})
	tests := []struct {
		path    string
		args    m
		kind    fault.Kind
		excType string
		message string
		trace   bool
	}{
		{"acme.todo.close", m{"name": "none"}, fault.NotFound, "DoesNotExistError", "none", true},
		{"acme.todo.close", m{}, fault.Validation, "ValidationError", "name: is missing", false},
		{"acme.todo.close", m{"name": 5}, fault.Validation, "FrameworkTypeError", "name: must be of type string", false},
		{"acme.misbehave.trap", nil, fault.Trap, "PluginTrapError", "acme.misbehave.trap", true},
		{"acme.misbehave.spin", nil, fault.Exhausted, "ResourceExhaustedError", "fuel", true},
		{"t.events.grow", nil, fault.Exhausted, "ResourceExhaustedError", "memory", true},
		{"t.events.garbage", nil, fault.Trap, "PluginTrapError", "not JSON", false},
		{"acme.misbehave.hidden", nil, fault.Permission, "PermissionError", "not whitelisted", false},
		{"acme.misbehave.none", nil, fault.Validation, "ValidationError", "Failed to get method", false},
		{"manual", nil, fault.Validation, "ValidationError", "Failed to get method", false},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			_, err := s.run("POST", tt.path, tt.args)
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Fatalf("error %v", err)
			}
			if f.Kind != tt.kind || f.ExcType() != tt.excType || !strings.Contains(f.Message, tt.message) {
				t.Errorf("%s %q of kind %d, want %s with %q of kind %d", f.ExcType(), f.Message, f.Kind, tt.excType, tt.message, tt.kind)
			}
			if tt.trace != (len(f.Trace) > 0) {
				t.Errorf("trace %q", f.Trace)
			}
		})
	}
	for range 2 {
		if got, err := s.run("POST", "acme.misbehave.remember", nil); err != nil || got != 1.0 {
			t.Errorf("a call remembers another: %v, %v", got, err)
		}
	}
	if got := s.mustGet("Note", name).Text("title"); got != "a note" {
		t.Errorf("title %q", got)
	}
}

// TestThrowRollsBack: what a method wrote before it failed is not there.
func TestThrowRollsBack(t *testing.T) {
	s := newSite(t).with(misbehave)
	name := s.mustInsert("ToDo", m{"description": "untouched"})
	_, err := s.run("POST", "acme.misbehave.fail", m{"name": name, "message": "no"})
	if f := fault.From(err); f.Kind != fault.Validation || f.Message != "no" || len(f.Trace) == 0 {
		t.Errorf("error %v, trace %v", err, f.Trace)
	} else if last := f.Trace[len(f.Trace)-1]; last != "plugin acme.misbehave 1.0.0, export acme.misbehave.fail" {
		t.Errorf("the trace says %q", last)
	}
	if got := s.mustGet("ToDo", name).Text("description"); got != "untouched" {
		t.Errorf("description %q", got)
	}
}

// TestConvertedArguments: a query string knows text only.
func TestConvertedArguments(t *testing.T) {
	s := newSite(t)
	typed := `"path": "acme.todo.echo", "args": {"type": "object", "properties": {"n": {"type": "integer"}, "l": {"type": "array"}}},`
	if err := s.install("todo.wasm", patched(t, todo, `"path": "acme.todo.echo",`, typed)); err != nil {
		t.Fatal(err)
	}
	got, err := s.run("GET", "acme.todo.echo", m{"n": "12", "l": "[1]", "other": "3"})
	if want := (m{"n": 12.0, "l": []any{1.0}, "other": "3"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := s.run("GET", "acme.todo.echo", m{"n": "twelve"}); fault.From(err).Type != "FrameworkTypeError" {
		t.Errorf("error %v", err)
	}
}

func TestExportUnderAnotherName(t *testing.T) {
	s := newSite(t).with(events)
	if got, err := s.run("POST", "t.events.manual", m{"a": "b"}); err != nil || !reflect.DeepEqual(got, m{"a": "b"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTimeout: time on the clock ends a call even where CPU would allow more.
func TestTimeout(t *testing.T) {
	s := newSite(t)
	if err := s.install("slow.wasm", patched(t, misbehave, `"grants"`, `"limits": {"wall_ms": 30, "cpu_ms": 60000}, "grants"`)); err != nil {
		t.Fatal(err)
	}
	_, err := s.run("POST", "acme.misbehave.spin", nil)
	if f := fault.From(err); f.Kind != fault.Timeout || f.ExcType() != "TimeoutError" {
		t.Errorf("error %v", err)
	}
}

func TestLongInput(t *testing.T) {
	s := newSite(t)
	if err := s.install("todo.wasm", patched(t, todo, `"grants"`, `"limits": {"input": 100}, "grants"`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run("POST", "acme.todo.echo", m{"a": strings.Repeat("x", 100)}); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("error %v", err)
	}
}
