package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/core/metrics"
)

func TestWhoMayRead(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	tests := []struct {
		name, verb, path, from string
		header                 map[string]string
		want                   int
	}{
		{"this machine", "GET", "/metrics", "127.0.0.1:1", nil, 200},
		{"this machine, IPv6", "GET", "/metrics", "[::1]:1", nil, 200},
		{"elsewhere", "GET", "/metrics", "192.0.2.1:1", nil, 403},
		{"through a proxy", "GET", "/metrics", "127.0.0.1:1", map[string]string{"X-Forwarded-For": "192.0.2.1"}, 403},
		{"the token", "GET", "/metrics", "192.0.2.1:1", map[string]string{"Authorization": "Bearer t"}, 200},
		{"another token", "GET", "/metrics", "127.0.0.1:1", map[string]string{"Authorization": "Bearer x"}, 403},
		{"a write", "POST", "/metrics", "127.0.0.1:1", nil, 405},
		{"something else", "GET", "/api/method/ping", "127.0.0.1:1", nil, 418},
	}
	h := metrics.New("t").Beside(next)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.verb, tt.path, nil)
			r.RemoteAddr = tt.from
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
			if tt.want == 200 && !strings.Contains(w.Body.String(), "go_goroutines") {
				t.Errorf("body %.200s", w.Body)
			}
		})
	}
}
