package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"armature/core/account"
	"armature/core/sites/sitetest"
)

// charged is a server whose memory is kept account of.
type charged struct {
	*sitetest.Server
	account *account.Account
	handler http.Handler
}

func newCharged(s *sitetest.Server, total int64) *charged {
	a := account.New(total, nil)
	return &charged{s, a, s.Charged(a)}
}

func (c *charged) held() (n int64) {
	for _, bytes := range c.account.Stats().Held {
		n += bytes
	}
	return n
}

func (c *charged) do(verb, path string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest(verb, path, body)
	r.Header.Set("Authorization", c.Admin.Authorization)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return w
}

// TestMemoryIsAdmitted: what a body and an answer become is charged before they do.
// What finds no memory is told when to try again, what is too much for one request
// that it is, and afterwards nothing is held.
func TestMemoryIsAdmitted(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		c := newCharged(s, 8<<20)
		doc := func(n int) io.Reader { return strings.NewReader(`{"description":"` + strings.Repeat("x", n) + `"}`) }
		want := func(what string, w *httptest.ResponseRecorder, status int) {
			t.Helper()
			if w.Code != status {
				t.Errorf("%s: %d %.300s", what, w.Code, w.Body)
			}
			if retry := w.Header().Get("Retry-After"); (retry != "") != (status == 503) {
				t.Errorf("%s: Retry-After %q", what, retry)
			}
			if n := c.held(); n != 0 {
				t.Errorf("%s: afterwards %d bytes are held", what, n)
			}
		}
		w := c.do("POST", "/api/resource/ToDo", doc(200_000))
		want("a document", w, 200)
		var made struct{ Data struct{ Name string } }
		if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
			t.Fatal(err)
		}
		want("a document too large", c.do("POST", "/api/resource/ToDo", doc(600_000)), 413)
		want("many values", c.do("POST", "/api/method/ping", strings.NewReader(`{"a":[0`+strings.Repeat(",0", 50_000)+`]}`)), 413)
		list := "/api/resource/ToDo?fields=%5B%22description%22%5D&limit=1"
		want("a list", c.do("GET", list, nil), 200)

		other := c.account.Work()
		if !other.Try(account.Child, 6<<20) {
			t.Fatal("there is not that much")
		}
		short := func(what string, w *httptest.ResponseRecorder) {
			t.Helper()
			if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"exc_type":"ServiceUnavailable"`) {
				t.Errorf("%s beside another who holds most: %d %v %.300s", what, w.Code, w.Header(), w.Body)
			}
		}
		var rest account.Call // but for a little
		c.account.Begin(&rest, "another", nil, false)
		if err := rest.Take(t.Context(), account.Child, 1900<<10); err != nil {
			t.Fatal(err)
		}
		short("a document", c.do("POST", "/api/resource/ToDo", doc(200_000)))
		short("a list", c.do("GET", list, nil))
		if w := c.do("GET", "/api/resource/ToDo?limit=1", nil); w.Code != 200 {
			t.Errorf("a short answer beside another who holds most: %d", w.Code)
		}
		other.End()
		rest.End()
		want("a list, later", c.do("GET", list, nil), 200)
		want("a document, later", c.do("GET", "/api/resource/ToDo/"+made.Data.Name, nil), 200)
	})
}

// slowWriter is a connection that notes until when each part is to be taken.
type slowWriter struct {
	*httptest.ResponseRecorder
	parts []string
}

func (w *slowWriter) SetWriteDeadline(at time.Time) error {
	w.parts = append(w.parts, time.Until(at).Round(time.Second).String())
	return nil
}

// TestSlowReader: a long answer is sent in parts, each of which the client has to take
// in time; a short one has the time that the server gives.
func TestSlowReader(t *testing.T) {
	s := sitetest.New(t, "")
	name := s.Admin.Post("/api/resource/ToDo", map[string]any{"description": strings.Repeat("x", 600<<10)}).Data(t)["name"].(string)
	for path, want := range map[string]string{"/api/resource/ToDo/" + name: "[30s 30s 30s]", "/api/resource/ToDo": "[]"} {
		w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", s.Admin.Authorization)
		s.Handler().ServeHTTP(w, r)
		if got := fmt.Sprint(w.parts); w.Code != 200 || got != want {
			t.Errorf("%s: %d, the deadlines are %s", path, w.Code, got)
		}
	}
}
