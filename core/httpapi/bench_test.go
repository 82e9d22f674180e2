package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// sink is a response nobody reads.
type sink struct{ h http.Header }

func (s sink) Header() http.Header         { return s.h }
func (s sink) WriteHeader(int)             {}
func (s sink) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkRequests(b *testing.B) {
	s := newSiteIn(b, b.TempDir())
	s.t = b
	var name string
	for i := range 50 {
		name = s.create("admin", "ToDo", fmt.Sprintf(`{"description":"todo %d"}`, i))["name"].(string)
	}
	paths := []struct{ name, path string }{
		{"ping", "/api/method/ping"},
		{"read", "/api/resource/ToDo/" + name},
		{"list", "/api/resource/ToDo?fields=%5B%22name%22,%22status%22,%22description%22%5D&filters=%5B%5B%22status%22,%22=%22,%22Open%22%5D%5D"},
	}
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			w := sink{make(http.Header)}
			for b.Loop() {
				clear(w.h)
				r := httptest.NewRequest("GET", p.path, nil)
				r.Header.Set("X-Test-User", "admin")
				s.handler.ServeHTTP(w, r)
			}
		})
	}
}
