package hostapi_test

import (
	"fmt"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/core/identity"
	"armature/runtime/hostapi"
)

type m = map[string]any

func TestDocuments(t *testing.T) {
	s := newSite(t)
	got := s.post(ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "Call Zoë"}}))[0].document(t)
	name, _ := got["name"].(string)
	if name == "" || got["status"] != "Open" || got["description"] != "Call Zoë" || got["doctype"] != "ToDo" {
		t.Fatalf("inserted %v", got)
	}
	answers := s.post(
		ask("doc_update", m{"doctype": "ToDo", "name": name, "doc": m{"status": "Closed"}}),
		ask("doc_get", m{"doctype": "ToDo", "name": name}),
		ask("doc_insert", m{"doctype": "ToDo", "doc": m{"description": "second"}}),
		ask("doc_list", m{"doctype": "ToDo", "fields": []string{"name", "status"}, "filters": [][]string{{"status", "=", "Closed"}}}),
		ask("doc_count", m{"doctype": "ToDo", "filters": []any{}}),
		ask("doc_delete", m{"doctype": "ToDo", "name": name}),
		ask("doc_count", m{"doctype": "ToDo"}),
	)
	for i, a := range answers[:2] {
		if got := a.document(t); got["status"] != "Closed" {
			t.Errorf("answer %d is %v", i, got)
		}
	}
	for i, want := range map[int]string{3: `[{"name":"` + name + `","status":"Closed"}]`, 4: "2", 5: "null", 6: "1"} {
		if answers[i].Out != want {
			t.Errorf("answer %d is %q, want %q", i, answers[i].Out, want)
		}
	}
	s.post(ask("doc_get", m{"doctype": "ToDo", "name": name}))[0].refused(t, fault.NotFound, "DoesNotExistError")
}

func TestRefusals(t *testing.T) {
	s := newSite(t)
	answers := s.post(
		ask("doc_get", "no object"),
		ask("doc_get", m{"doctype": "ToDo"}),
		ask("doc_get", m{"name": "x"}),
		ask("doc_update", m{"doctype": "ToDo", "name": "x"}),
		ask("doc_insert", m{"doctype": "ToDo", "doc": m{"doctype": "Note"}}),
		ask("doc_insert", m{"doc": m{}}),
		ask("method_call", m{}),
		ask("config_get", m{}),
	)
	for _, a := range answers {
		a.refused(t, fault.BadRequest, "BadRequestError")
	}
	s.post(ask("kv_get", m{"key": "x"}))[0].refused(t, fault.NotImplemented, "NotImplementedError")
	s.post(ask("doc_list", m{"doctype": "ToDo", "fields": []string{"1; drop"}}))[0].refused(t, fault.Validation, "DataError")
	s.post(ask("doc_get", m{"doctype": "Nothing", "name": "x"}))[0].refused(t, fault.NotFound, "DoesNotExistError")
	s.post(ask("doc_submit", m{"doctype": "ToDo", "name": "x"}))[0].refused(t, fault.NotFound, "DoesNotExistError")
	s.post(ask("doc_cancel", m{"doctype": "ToDo", "name": "x"}))[0].refused(t, fault.NotFound, "DoesNotExistError")
}

// TestUnknownFields: a guest is told which fields of its write the DocType does not
// have, and a read does not tell it again.
func TestUnknownFields(t *testing.T) {
	s := newSite(t)
	answers := s.post(
		ask("doc_insert", m{"doc": m{"doctype": "ToDo", "name": "T1", "description": "x", "colour": "red", "weight": 2}}),
		ask("doc_update", m{"doctype": "ToDo", "name": "T1", "doc": m{"status": "Closed", "colour": "blue"}}),
		ask("doc_update", m{"doctype": "ToDo", "name": "T1", "doc": m{"description": "y"}}),
		ask("doc_get", m{"doctype": "ToDo", "name": "T1"}),
	)
	for i, want := range []string{"[colour weight]", "[colour]", "<nil>", "<nil>"} {
		got := answers[i].document(t)
		if named := fmt.Sprint(got["_unknown_fields"]); named != want {
			t.Errorf("answer %d names %s, want %s", i, named, want)
		}
		if got["colour"] != nil {
			t.Errorf("answer %d has kept %v", i, got["colour"])
		}
	}
}

// TestCaughtWrite: a write that fails is undone by itself, and the rest of the
// transaction is committed.
func TestCaughtWrite(t *testing.T) {
	s := newSite(t)
	answers := s.post(
		ask("doc_insert", m{"doc": m{"doctype": "ToDo", "name": "T1", "description": "kept"}}),
		ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "bad", "priority": "no such priority"}}),
		ask("method_call", m{"method": "t.host.fail"}),
		ask("doc_count", m{"doctype": "ToDo"}),
	)
	answers[1].refused(t, fault.Validation, "LinkValidationError")
	if text := answers[2].refused(t, fault.Internal, "InternalError"); strings.Contains(text, "secret") {
		t.Errorf("the guest is told %q", text)
	}
	if answers[3].Out != "1" {
		t.Errorf("%s documents inside the transaction", answers[3].Out)
	}
	if got := s.post(ask("doc_count", m{"doctype": "ToDo"}))[0].Out; got != "1" {
		t.Errorf("%s documents afterwards", got)
	}
}

// TestWriteOnGet: the method starts again with a writer, which is rolled back.
func TestWriteOnGet(t *testing.T) {
	s := newSite(t)
	answers, err := s.try("GET",
		ask("doc_count", m{"doctype": "ToDo"}),
		ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "not for long"}}),
		ask("doc_count", m{"doctype": "ToDo"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if answers[1].document(t)["description"] != "not for long" || answers[2].Out != "1" {
		t.Errorf("answers %+v", answers)
	}
	if got := s.post(ask("doc_count", m{"doctype": "ToDo"}))[0].Out; got != "0" {
		t.Errorf("a GET has left %s documents", got)
	}
}

// TestNestedWriteOnGet: the same through another call of the guest.
func TestNestedWriteOnGet(t *testing.T) {
	s := newSite(t)
	inner := []step{ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "not for long"}})}
	answers, err := s.try("GET", ask("method_call", m{"method": "t.guest.run", "args": m{"steps": inner}}))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answers[0].Out, "not for long") {
		t.Errorf("the nested call answered %+v", answers[0])
	}
}

func TestCaller(t *testing.T) {
	s := newSite(t)
	s.caller = &identity.Caller{User: "zoe@example.com", FullName: "Zoë", Roles: []string{identity.All, identity.Guest}}
	if got := s.post(ask("caller_get", m{}))[0].Out; got != `{"user":"zoe@example.com","full_name":"Zoë","roles":["All","Guest"]}` {
		t.Errorf("caller %s", got)
	}
	user := ask("doc_get", m{"doctype": "User", "name": "Administrator"})
	s.post(user)[0].refused(t, fault.Permission, "PermissionError")

	s.plugin.Grants |= hostapi.Elevated
	if got := s.post(user)[0].document(t); got["name"] != "Administrator" {
		t.Errorf("elevated access reads %v", got)
	}
	todo := s.post(ask("doc_insert", m{"doc": m{"doctype": "ToDo", "description": "mine"}}))[0].document(t)
	if todo["owner"] != "zoe@example.com" {
		t.Errorf("the owner of what an elevated plugin writes is %v", todo["owner"])
	}

	s.plugin.Grants = hostapi.Grant("doc_get")
	answers := s.post(ask("doc_count", m{"doctype": "ToDo"}), ask("caller_get", m{}))
	if text := answers[0].refused(t, fault.Permission, "PermissionError"); !strings.Contains(text, "doc_count") {
		t.Errorf("the refusal is %q", text)
	}
	if answers[1].Result < 0 {
		t.Error("caller_get needs no grant and is refused")
	}
}
