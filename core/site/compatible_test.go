package site_test

import (
	"encoding/json"
	"testing"

	"armature/core/site"
)

// TestHeaderAliases: another name stands for one of our headers and for nothing else,
// so that no setting makes a credential of what strangers send.
func TestHeaderAliases(t *testing.T) {
	c, err := (&site.Config{}).With("header_aliases", json.RawMessage(`{"x-frappe-csrf-token": "X-Framework-CSRF-Token"}`))
	if err != nil || c.HeaderAliases()["X-Frappe-Csrf-Token"] != "X-Framework-Csrf-Token" {
		t.Errorf("%v, %v", c.HeaderAliases(), err)
	}
	for _, wrong := range []string{
		`{"X-Key": "Authorization"}`, `{"X-Key": "Cookie"}`, `{"X-Client": "X-Forwarded-For"}`, `{"Referer": "X-Framework-CSRF-Token"}`,
		`{"X-a b": "X-Framework-CSRF-Token"}`, `{"X-A": "X-Framework-\n"}`, `{"": ""}`, `"X-A"`,
	} {
		if _, err := (&site.Config{}).With("header_aliases", json.RawMessage(wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
