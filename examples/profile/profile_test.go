package main

import (
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

const userinfo = "https://id.example.com/userinfo"

func TestShow(t *testing.T) {
	s := armaturetest.New(t)
	var got Profile
	if err := s.CallBy("GET", "acme.profile.show", Asking{App: "A"}, &got); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("without configuration: %v", err)
	}
	s.Configure("userinfo_url", userinfo)
	s.Answer(userinfo, armaturetest.Answer{Body: []byte(`{"sub": "ada"}`)})
	if err := s.CallBy("GET", "acme.profile.show", Asking{App: "A"}, &got); err != nil {
		t.Fatal(err)
	}
	sent := s.Fetched()
	if !got.Connected || got.Claims["sub"] != "ada" || len(sent) != 1 || sent[0].App != "A" || sent[0].URL != userinfo {
		t.Errorf("got %+v for %+v", got, sent)
	}
}

func TestNotConnected(t *testing.T) {
	s := armaturetest.New(t)
	s.Configure("userinfo_url", userinfo)
	for _, excType := range []string{"NotConnectedError", "ConnectionBrokenError"} {
		s.Answer(userinfo, armaturetest.Answer{Failure: "connect first", FailureType: excType, FailureKind: armature.KindValidation})
		got := Profile{Connected: true}
		if err := s.CallBy("GET", "acme.profile.show", Asking{App: "A"}, &got); err != nil || got.Connected {
			t.Errorf("%s: %+v %v", excType, got, err)
		}
	}
	s.Answer(userinfo, armaturetest.Answer{Failure: "no", FailureKind: armature.KindPermission})
	if err := s.CallBy("GET", "acme.profile.show", Asking{App: "A"}, nil); armature.KindOf(err) != armature.KindPermission {
		t.Errorf("refused: %v", err)
	}
}
