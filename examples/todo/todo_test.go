package main

import (
	"errors"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/stubhost"
)

func host(t *testing.T) *stubhost.Host {
	h := stubhost.New(t)
	h.Put("ToDo", armature.Doc{"name": "T1", "status": "Open", "description": "Call Zoë"})
	h.Put("ToDo", armature.Doc{"name": "T2", "status": "Open"})
	h.Put("ToDo", armature.Doc{"name": "T3", "status": "Closed"})
	return h
}

func TestClose(t *testing.T) {
	h := host(t)
	var doc armature.Doc
	if err := h.Call(exportClose, Closing{Name: "T1"}, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.String("status") != "Closed" || doc.String("description") != "Call Zoë" {
		t.Errorf("returned %v", doc)
	}
	if got := h.Doc("ToDo", "T1").String("status"); got != "Closed" {
		t.Errorf("stored status %q", got)
	}
	if got := h.Doc("ToDo", "T2").String("status"); got != "Open" {
		t.Errorf("T2 became %q", got)
	}
}

func TestCloseTwiceWritesOnce(t *testing.T) {
	h := host(t)
	h.On("doc_update", func(armature.Doc) (any, error) {
		t.Error("a closed ToDo was written again")
		return nil, nil
	})
	if err := h.Call(exportClose, Closing{Name: "T3"}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestCloseErrors(t *testing.T) {
	tests := []struct {
		name string
		args any
		kind armature.Kind
	}{
		{"missing", Closing{Name: "T9"}, armature.KindNotFound},
		{"wrong type", armature.Doc{"name": 7}, armature.KindValidation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := host(t).Call(exportClose, tt.args, nil)
			if armature.KindOf(err) != tt.kind {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCloseRefused(t *testing.T) {
	h := host(t)
	h.On("doc_update", func(armature.Doc) (any, error) { return nil, armature.Denied("read only") })
	var e *armature.Error
	if err := h.Call(exportClose, Closing{Name: "T1"}, nil); !errors.As(err, &e) || e.Message != "read only" {
		t.Errorf("got %v", err)
	}
}

func TestSummary(t *testing.T) {
	h := host(t)
	h.User.Name = "zoe@example.com"
	var got Summary
	if err := h.Call(exportSummary, nil, &got); err != nil {
		t.Fatal(err)
	}
	if got.User != "zoe@example.com" || got.Total != 3 || got.By["Open"] != 2 || got.By["Closed"] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestEcho(t *testing.T) {
	var got armature.Doc
	args := armature.Doc{"text": "a\n\"b\" \u2028 Zoë", "n": 12, "list": []any{true, nil, 1.5}}
	if err := host(t).Call(exportEcho, args, &got); err != nil {
		t.Fatal(err)
	}
	if got.String("text") != args["text"] || got.Int("n") != 12 || len(got["list"].([]any)) != 3 {
		t.Errorf("got %v", got)
	}
}

func TestShow(t *testing.T) {
	h := host(t)
	var doc armature.Doc
	if err := h.Call(exportShow, armature.Doc{"name": "T1"}, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.String("description") != "Call Zoë" {
		t.Errorf("returned %v", doc)
	}
	if err := h.Call(exportShow, armature.Doc{"name": "T9"}, nil); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("got %v", err)
	}
}
