package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		{"through a proxy that says how", "GET", "/metrics", "127.0.0.1:1", map[string]string{"X-Forwarded-Proto": ""}, 403},
		{"through a proxy that says nothing", "GET", "/metrics", "127.0.0.1:1", map[string]string{"proto": "HTTP/1.0"}, 403},
		{"through a proxy that keeps the host", "GET", "/metrics", "127.0.0.1:1", map[string]string{"host": "docs.example.org"}, 403},
		{"this machine by its name", "GET", "/metrics", "127.0.0.1:1", map[string]string{"host": "localhost:8000"}, 200},
		{"the token through a proxy", "GET", "/metrics", "127.0.0.1:1", map[string]string{"X-Forwarded-For": "192.0.2.1", "Authorization": "Bearer t"}, 200},
		{"the token's beginning", "GET", "/metrics", "192.0.2.1:1", map[string]string{"Authorization": "Bearer "}, 403},
		{"the token", "GET", "/metrics", "192.0.2.1:1", map[string]string{"Authorization": "Bearer t"}, 200},
		{"another token", "GET", "/metrics", "127.0.0.1:1", map[string]string{"Authorization": "Bearer x"}, 403},
		{"a write", "POST", "/metrics", "127.0.0.1:1", nil, 405},
		{"something else", "GET", "/api/method/ping", "127.0.0.1:1", nil, 418},
	}
	h := metrics.New("t").Beside(next)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.verb, tt.path, nil)
			r.RemoteAddr, r.Host = tt.from, "127.0.0.1:8000"
			for name, value := range tt.header {
				switch name {
				case "host":
					r.Host = value
				case "proto":
					r.Proto, r.ProtoMajor, r.ProtoMinor = value, 1, 0
				default:
					r.Header.Set(name, value)
				}
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

func TestNoTokenIsNoToken(t *testing.T) {
	h := metrics.New("").Beside(http.NotFoundHandler())
	for _, header := range []string{"", "Bearer ", "Bearer x"} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 403 {
			t.Errorf("with %q: %d", header, w.Code)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	m := metrics.New("")
	h := metrics.NewHTTP(m.Registry)
	for _, verb := range []string{"GET", "GET", "BREW"} {
		h.Begin()
		h.End("single", verb, 200, 3*time.Millisecond)
	}
	h.Begin()
	h.End("page", "GET", 0, 20*time.Second)
	h.Begin()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	w := httptest.NewRecorder()
	m.Beside(nil).ServeHTTP(w, r)
	for _, want := range []string{
		`armature_http_requests_total{method="GET",route="single",status="200"} 2`,
		`armature_http_requests_total{method="other",route="single",status="200"} 1`,
		`armature_http_requests_total{method="GET",route="page",status="none"} 1`,
		`armature_http_request_seconds_bucket{route="single",le="0.001"} 0`,
		`armature_http_request_seconds_bucket{route="single",le="0.004"} 3`,
		`armature_http_requests_running 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s is not in %s", want, w.Body)
		}
	}
}

func TestBuild(t *testing.T) {
	m := metrics.New("")
	m.Build("1.2.3")
	r := httptest.NewRequest(http.MethodGet, metrics.Path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1:8000"
	w := httptest.NewRecorder()
	m.Beside(http.NotFoundHandler()).ServeHTTP(w, r)
	if text := w.Body.String(); !strings.Contains(text, "armature_build_info{goversion=\"go") || !strings.Contains(text, "version=\"1.2.3\"} 1\n") {
		t.Errorf("%.300s", text)
	}
}
