package site_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/site"
)

// TestSettingsAreDeclared: each is sorted in, explained and once there.
func TestSettingsAreDeclared(t *testing.T) {
	all := site.Settings()
	if !slices.IsSortedFunc(all, func(a, b site.Setting) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("the list is not sorted by key")
	}
	for _, s := range all {
		if s.Key == "" || s.Since == 0 || !strings.HasSuffix(s.Meaning, ".") {
			t.Errorf("%q lacks a meaning or since when it is there", s.Key)
		}
		if found := site.FindSetting(s.Key); found == nil || found.Key != s.Key {
			t.Errorf("%s is not found", s.Key)
		}
		var v any
		if json.Unmarshal([]byte(s.Default), &v) != nil { // in words
			continue
		}
		if _, err := (&site.Config{}).With(s.Key, json.RawMessage(s.Default)); err != nil && v != nil {
			t.Errorf("the default of %s is refused: %v", s.Key, err)
		}
	}
	if site.FindSetting("nothing") != nil {
		t.Error("found what is not there")
	}
}

// TestSettingRefused: a misspelt key and a value of another kind are errors that say
// what would do; what stands there already can always be taken away.
func TestSettingRefused(t *testing.T) {
	for _, tt := range []struct{ key, value, want string }{
		{"allow_cor", `"*"`, "did you mean allow_cors?"},
		{"sesion_expiry", `"1:00"`, "did you mean session_expiry?"},
		{"Time_Zone", `"UTC"`, "did you mean time_zone?"},
		{"frobnicate", `1`, "is no setting; `armature site settings` lists them"},
		{"session_expiry", `"forever"`, `must be a time such as "170:00"`},
		{"session_expiry", `"0:00"`, `must be a time`},
		{"throttle_user_limit", `0`, "must be a whole number above 0"},
		{"throttle_user_limit", `1.5`, "must be a whole number above 0"},
		{"throttle_user_limit", `"9"`, "must be a whole number above 0"},
		{"ignore_csrf", `"yes"`, "must be true or false"},
		{"allowed_referrers", `[1]`, "must be a list of texts"},
		{"mail", `"localhost"`, "must be an object"},
		{"app_name", `7`, "must be text"},
		{"allow_cors", `"null"`, `"null" is not an origin`},
		{"allow_cors", `["https://a.example/page"]`, "is not an origin"},
		{"allow_cors", `["a.example"]`, "is not an origin"},
		{"allow_cors", `7`, "must be a list of origins"},
	} {
		_, err := (&site.Config{}).With(tt.key, json.RawMessage(tt.value))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s = %s: %v, want %q", tt.key, tt.value, err, tt.want)
		}
	}
	c, err := site.ParseConfig([]byte(`{"of_another_version": 1, "ignore_csrf": "yes"}`))
	if err != nil {
		t.Fatalf("a file with a key that is not known: %v", err)
	}
	if c, err = c.With("of_another_version", json.RawMessage("null")); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get("of_another_version"); ok {
		t.Error("the key is still there")
	}
	for key, value := range map[string]string{"ignore_csrf": "1", "allowed_referrers": `"a.example"`, "session_expiry": `"1:30:00"`, "mail": `{}`, "app_name": `""`} {
		if _, err := c.With(key, json.RawMessage(value)); err != nil {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
}

func TestLifetime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"170:00": 170 * time.Hour, "0:00:01": time.Second, "1:2:3": time.Hour + 2*time.Minute + 3*time.Second,
		"": 0, "1": 0, "1:": 0, "0:00": 0, "-1:00": 0, "1:2:3:4": 0, "9999999:00": 0, "1:x": 0,
	} {
		if d, ok := site.ParseLifetime(text); d != want && ok || ok != (want > 0) {
			t.Errorf("%q is %v, %v", text, d, ok)
		}
	}
}

// TestOrigins: they are compared as browsers send them.
func TestOrigins(t *testing.T) {
	c, err := site.ParseConfig([]byte(`{"allow_cors": ["https://App.Example:443/", "http://localhost:5173", "*"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Origins(); !slices.Equal(got, []string{"https://app.example", "http://localhost:5173", "*"}) {
		t.Errorf("%q", got)
	}
	for origin, want := range map[string]bool{
		"https://app.example": true, "http://localhost:5173": true, "*": false, "null": false, "": false,
		"http://app.example": false, "https://app.example:444": false, "https://other.example": false,
	} {
		if c.TrustsOrigin(origin) != want {
			t.Errorf("%q is trusted: %v", origin, !want)
		}
	}
}
