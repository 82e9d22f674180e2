package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAccessLog(t *testing.T) {
	s := newSite(t)
	s.do(request{as: "web", path: "/api/method/ping?sid=hidden&token=hidden&code=hidden", header: http.Header{
		"Authorization": {"token k:hidden"}, "Cookie": {"sid=hidden"}, "Referer": {"http://x/?code=hidden"},
	}}).must(200)
	line := s.log.String()
	for _, want := range []string{"msg=request", "site=test", "user=web@example.com", "method=GET", "path=/api/method/ping ",
		"status=200", "bytes=18", "duration_us=", "processing_us=", "id=", "from=192.0.2.1"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %s", want, line)
		}
	}
	if strings.Contains(line, "hidden") || strings.Count(line, "\n") != 1 {
		t.Errorf("log: %s", line)
	}
}

// TestAccessLogIsOneLine has clients try to write lines of their own, and long
// ones.
func TestAccessLogIsOneLine(t *testing.T) {
	s := newSite(t)
	s.do(request{path: "/api/method/x%0Atime=2026%20msg=request%20user=Administrator"}).must(417)
	s.do(request{path: "/api/method/" + strings.Repeat("%C3%A4", 9000)}).must(417)
	text := s.log.String()
	if n := strings.Count(text, "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, text)
	}
	if len(text) > 8000 {
		t.Errorf("%d bytes of log", len(text))
	}
}

func TestRequestID(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		name, given string
		kept        bool
	}{
		{"a UUID", "0b5c9d0e-6c2f-4d6b-9a53-6f0d5a3f4c11", true},
		{"of a proxy", "f058ebd6-02f7.4d3f_942e", true},
		{"none", "", false},
		{"the longest", strings.Repeat("a", 64), true},
		{"too long", strings.Repeat("a", 65), false},
		{"a line of log", "x user=Administrator", false},
		{"markup", "<script>", false},
		{"not ASCII", "caf\u00e9", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.log.Reset()
			h := http.Header{}
			if tt.given != "" {
				h.Set("X-Request-Id", tt.given)
			}
			a := s.do(request{path: "/api/method/ping", header: h}).must(200)
			id := a.header.Get("X-Request-Id")
			if id != a.header.Get("X-Framework-Request-Id") || (id == tt.given) != tt.kept || !tt.kept && len(id) != 24 {
				t.Errorf("answered with %q and %q", id, a.header.Get("X-Framework-Request-Id"))
			}
			if !strings.Contains(s.log.String(), " id="+id+" ") {
				t.Errorf("log: %s", s.log)
			}
		})
	}
	a := s.do(request{path: "/api/method/ping", header: http.Header{"X-Request-Id": {"one", "two"}}}).must(200)
	if id := a.header.Get("X-Request-Id"); len(id) != 24 {
		t.Errorf("of two ids %q was taken", id)
	}
}
