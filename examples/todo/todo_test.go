package main

import (
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

// site is a fresh one with three ToDos; names are the server's to give.
func site(t *testing.T) (s *armaturetest.Site, open, closed string) {
	s = armaturetest.New(t)
	open = s.Insert("ToDo", armature.Doc{"status": "Open", "description": "Call Zoë"}).Name()
	s.Insert("ToDo", armature.Doc{"status": "Open", "description": "Buy milk"})
	closed = s.Insert("ToDo", armature.Doc{"status": "Closed", "description": "Sleep"}).Name()
	return s, open, closed
}

func TestClose(t *testing.T) {
	s, open, _ := site(t)
	var doc armature.Doc
	if err := s.Call("acme.todo.close", Closing{Name: open}, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.String("status") != "Closed" || doc.String("description") != "Call Zoë" {
		t.Errorf("returned %v", doc)
	}
	if got := s.Get("ToDo", open).String("status"); got != "Closed" {
		t.Errorf("stored status %q", got)
	}
	if n, err := armature.Count("ToDo", armature.Eq("status", "Open")); err != nil || n != 1 {
		t.Errorf("%d others are open, %v", n, err)
	}
}

func TestCloseTwiceWritesOnce(t *testing.T) {
	s, _, closed := site(t)
	before := s.Get("ToDo", closed).String("modified")
	if err := s.Call("acme.todo.close", Closing{Name: closed}, nil); err != nil {
		t.Fatal(err)
	}
	if after := s.Get("ToDo", closed).String("modified"); after != before {
		t.Errorf("a closed ToDo was written again, at %s", after)
	}
}

func TestCloseErrors(t *testing.T) {
	s, open, _ := site(t)
	if err := s.Call("acme.todo.close", Closing{Name: "T9"}, nil); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("missing: %v", err)
	}
	if err := s.Call("acme.todo.close", armature.Doc{"name": 7}, nil); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("wrong type: %v", err)
	}
	s.ActAs("zoe@example.com", "Blogger")
	if err := s.Call("acme.todo.close", Closing{Name: open}, nil); armature.KindOf(err) != armature.KindPermission {
		t.Errorf("without a role: %v", err)
	}
}

func TestGetKeepsNothing(t *testing.T) {
	s, open, _ := site(t)
	if err := s.CallBy("GET", "acme.todo.close", Closing{Name: open}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("ToDo", open).String("status"); got != "Open" {
		t.Errorf("stored status %q", got)
	}
}

func TestSummary(t *testing.T) {
	s, _, _ := site(t)
	var got Summary
	if err := s.CallBy("GET", "acme.todo.summary", nil, &got); err != nil {
		t.Fatal(err)
	}
	if got.User != "Administrator" || got.Total != 3 || got.By["Open"] != 2 || got.By["Closed"] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestEcho(t *testing.T) {
	s, _, _ := site(t)
	var got armature.Doc
	args := armature.Doc{"text": "a\n\"b\" \u2028 Zoë", "n": 12, "list": []any{true, nil, 1.5}}
	if err := s.Call("acme.todo.echo", args, &got); err != nil {
		t.Fatal(err)
	}
	if got.String("text") != args["text"] || len(got["list"].([]any)) != 3 {
		t.Errorf("got %v", got)
	}
}
