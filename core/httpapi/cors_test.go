package httpapi_test

import (
	"net/http"
	"testing"
)

func TestCrossOrigin(t *testing.T) {
	s := newSite(t)
	const origin = "https://app.example"
	ask := func(verb string) http.Header {
		return s.do(request{verb: verb, path: "/api/method/ping", header: http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"PUT"}, "Access-Control-Request-Headers": {"x-a, x-b"},
		}}).must(200).header
	}
	tests := []struct {
		name    string
		origins []string
		verb    string
		want    map[string]string
	}{
		{"off", nil, "GET", map[string]string{"Vary": "", "Access-Control-Allow-Origin": ""}},
		{"another origin", []string{"https://other.example"}, "GET", map[string]string{"Vary": "Origin", "Access-Control-Allow-Origin": ""}},
		{"named", []string{"https://other.example", origin}, "GET", map[string]string{
			"Vary": "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true", "Access-Control-Max-Age": "",
			"Access-Control-Expose-Headers": "ETag, Retry-After, WWW-Authenticate, X-Framework-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Used, X-Request-Id"}},
		{"any", []string{"*"}, "GET", map[string]string{"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": ""}},
		{"any, on a preflight", []string{"*"}, "OPTIONS", map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "PUT", "Access-Control-Allow-Credentials": ""}},
		{"any, and by name", []string{"*", origin}, "GET", map[string]string{"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}},
		{"preflight", []string{origin}, "OPTIONS", map[string]string{
			"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Methods": "PUT",
			"Access-Control-Allow-Headers": "x-a, x-b", "Access-Control-Max-Age": "86400"}},
		{"preflight of another", []string{"https://other.example"}, "OPTIONS", map[string]string{"Access-Control-Allow-Methods": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			s.site.Origins = tt.origins
			h := ask(tt.verb)
			for key, want := range tt.want {
				if got := h.Get(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
		})
	}
}
