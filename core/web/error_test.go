package web_test

import (
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

func TestErrorPage(t *testing.T) {
	s := sitetest.New(t, "")
	r := send(t, s, "GET", "/nothing/here", "", "Accept", "text/html,*/*;q=0.8")
	if r.StatusCode != 404 || !strings.Contains(r.text, "There is no such page") || !strings.Contains(r.text, r.Header.Get("X-Framework-Request-Id")) ||
		!strings.Contains(r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
	}
	configure(t, s, "app_name", `"Smith & Sons"`)
	if r := send(t, s, "PATCH", "/login", "", "Accept", "text/html"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD, POST" ||
		!strings.Contains(r.text, "PATCH is not allowed") || !strings.Contains(r.text, "Smith &amp; Sons") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, r.text)
	}
	for _, path := range []string{"/favicon.ico", "/favicon.svg"} {
		if r := send(t, s, "GET", path, ""); r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/svg+xml" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
}
