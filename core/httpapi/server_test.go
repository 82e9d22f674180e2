package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	s := newSite(t)
	if a := s.do(request{path: "/healthz"}).must(200); a.body["status"] != "ok" {
		t.Errorf("got %s", a.text)
	}
	s.do(request{path: "/readyz"}).must(200)
	s.ready = errors.New("draining")
	s.do(request{path: "/readyz"}).must(503)
	s.do(request{path: "/healthz"}).must(200)
}

func TestVerbsEveryPathHas(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/api/resource/ToDo", "/api/method/ping", "/api/method/nothing"} {
		if a := s.do(request{verb: "OPTIONS", path: path}).must(200); a.text != "" {
			t.Errorf("OPTIONS %s answered %s", path, a.text)
		}
	}
	server := httptest.NewServer(s.handler)
	defer server.Close()
	res, err := http.Head(server.URL + "/api/method/ping")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || len(body) != 0 || res.ContentLength != int64(len(`{"message":"pong"}`)) {
		t.Errorf("HEAD: %d, %d bytes announced, %q", res.StatusCode, res.ContentLength, body)
	}
}

func TestUnknownPaths(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/api", "/api/", "/api/rest", "/api/resource", "/api/resource/", "/api/method", "/api/method/", "/api/v2/document/ToDo", "/api/v1"} {
		if a := s.do(request{as: "admin", path: path}).must(404); a.text != `{"exc_type":"DoesNotExistError","message":"Not Found"}` {
			t.Errorf("%s answered %s", path, a.text)
		}
	}
	s.do(request{path: "/apix"}).must(404)
}

func TestUnknownSite(t *testing.T) {
	s := newSite(t)
	req := httptest.NewRequest("GET", "http://NOWHERE.example:8000/api/method/ping", nil)
	s.serve(req).must(404)
}

func TestHeaders(t *testing.T) {
	s := newSite(t)
	a := s.do(request{path: "/api/method/ping"}).must(200)
	b := s.do(request{path: "/api/method/ping"}).must(200)
	posted := s.do(request{verb: "POST", path: "/api/method/ping"}).must(200)
	if got := posted.header.Get("Cache-Control"); got != "no-store,no-cache,must-revalidate,max-age=0" {
		t.Errorf("Cache-Control %q", got)
	}
	if id := a.header.Get("X-Framework-Request-Id"); len(id) != 24 || id == b.header.Get("X-Framework-Request-Id") {
		t.Errorf("request id %q", id)
	}
	if a.header.Get("Content-Length") != "18" {
		t.Errorf("Content-Length %q", a.header.Get("Content-Length"))
	}
}

func TestBodyLimit(t *testing.T) {
	s := newSite(t)
	s.site.MaxBody = 1000
	big := `{"description":"` + strings.Repeat("x", 2000) + `"}`
	for _, path := range []string{"/api/resource/ToDo", "/api/method/test.echo", "/api/method/test.rawfails", "/"} {
		a := s.do(request{as: "admin", verb: "POST", path: path, body: big}).must(413)
		if a.body["exc_type"] != "RequestEntityTooLargeError" {
			t.Errorf("%s answered %s", path, a.text)
		}
	}
	// A body that does not announce its length.
	req := httptest.NewRequest("POST", "/api/method/test.echo", io.MultiReader(strings.NewReader(big)))
	req.ContentLength = -1
	req.Header.Set("Content-Type", "application/json")
	s.serve(req).must(413)
}

func TestBrokenAnswerBreaksTheConnection(t *testing.T) {
	s := newSite(t)
	server := httptest.NewServer(s.handler)
	defer server.Close()
	res, err := http.Get(server.URL + "/api/method/test.rawbreaks")
	if err == nil {
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
	}
	if err == nil {
		t.Error("half an answer looked whole")
	}
}
