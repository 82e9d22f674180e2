package explorer_test

import (
	"net/http"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestPage: everybody gets the page, under a policy that lets run what is in it and
// nothing else; what it shows it has to ask for with the reader's own rights.
func TestPage(t *testing.T) {
	s := sitetest.New(t, "")
	for who, c := range map[string]*sitetest.Client{"Guest": s.Guest, "Administrator": s.Admin} {
		r := c.Get("/api/docs")
		policy := r.Header.Get("Content-Security-Policy")
		if r.Status != 200 || !strings.Contains(r.Text, "<script>\"use strict\"") || strings.Contains(r.Text, "ToDo\"") || r.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %.300s", who, r.Status, r.Text)
		}
		for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "connect-src 'self'", "form-action 'none'", "frame-ancestors 'none'", "trusted-types 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("policy %q has no %s", policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src 'self'") {
			t.Errorf("policy %q", policy)
		}
		if strings.Contains(r.Text, "You see what anybody") != (who == "Guest") {
			t.Errorf("%s is told of somebody else", who)
		}
	}
	if r := s.Admin.Do(http.MethodPost, "/api/docs", "", nil); r.Status != 405 || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", r.Status)
	}
	if r := s.Admin.Get("/api/docs/more"); r.Status != 404 {
		t.Errorf("below it: %d", r.Status)
	}
}
