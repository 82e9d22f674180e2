package main

import (
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/stubhost"
)

func TestShow(t *testing.T) {
	h := stubhost.New(t)
	var got Profile
	if err := h.Call(exportShow, Asking{App: "A"}, &got); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("without configuration: %v", err)
	}
	h.On("config_get", func(armature.Doc) (any, error) { return "https://id.example.com/userinfo", nil })
	var asked armature.Doc
	h.On("connected_request", func(in armature.Doc) (any, error) {
		asked = in
		return armature.Doc{"status": 200, "headers": armature.Doc{}, "body": `{"sub": "ada"}`}, nil
	})
	if err := h.Call(exportShow, Asking{App: "A"}, &got); err != nil {
		t.Fatal(err)
	}
	if !got.Connected || got.Claims["sub"] != "ada" || asked.String("app") != "A" || asked.String("url") != "https://id.example.com/userinfo" {
		t.Errorf("got %+v for %v", got, asked)
	}
}

func TestNotConnected(t *testing.T) {
	h := stubhost.New(t)
	h.On("config_get", func(armature.Doc) (any, error) { return "https://id.example.com/userinfo", nil })
	for _, excType := range []string{"NotConnectedError", "ConnectionBrokenError"} {
		h.On("connected_request", func(armature.Doc) (any, error) {
			return nil, &armature.Error{Kind: armature.KindValidation, Type: excType, Message: "connect first"}
		})
		got := Profile{Connected: true}
		if err := h.Call(exportShow, Asking{App: "A"}, &got); err != nil || got.Connected {
			t.Errorf("%s: %+v %v", excType, got, err)
		}
	}
	h.On("connected_request", func(armature.Doc) (any, error) { return nil, armature.Denied("no") })
	if err := h.Call(exportShow, Asking{App: "A"}, nil); armature.KindOf(err) != armature.KindPermission {
		t.Errorf("refused: %v", err)
	}
}
