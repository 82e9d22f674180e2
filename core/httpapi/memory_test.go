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

// TestMemoryOfAgents: the same for a call of a tool.
func TestMemoryOfAgents(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		c := newCharged(s, 16<<20)
		call := func(tool, args string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`))
			r.Header.Set("Authorization", c.Admin.Authorization)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
			w := httptest.NewRecorder()
			before := c.held()
			c.handler.ServeHTTP(w, r)
			if n := c.held() - before; n != 0 {
				t.Errorf("%s: afterwards %d bytes are held", tool, n)
			}
			return w
		}
		create := func(n int) *httptest.ResponseRecorder {
			return call("create", `{"doctype":"ToDo","values":{"description":"`+strings.Repeat("x", n)+`"}}`)
		}
		if w := create(400_000); w.Code != 200 || strings.Contains(w.Body.String(), `"isError":true`) {
			t.Fatalf("a document: %d %.300s", w.Code, w.Body)
		}
		if w := create(900_000); w.Code != 413 {
			t.Errorf("a document too large: %d %.300s", w.Code, w.Body)
		}
		if w := create(5 << 20); w.Code != 413 {
			t.Errorf("a message too large: %d %.300s", w.Code, w.Body)
		}
		big := c.do("POST", "/api/resource/ToDo", strings.NewReader(`{"description":"`+strings.Repeat("y", 300_000)+`"}`))
		var made struct{ Data struct{ Name string } }
		if err := json.Unmarshal(big.Body.Bytes(), &made); err != nil {
			t.Fatal(err)
		}
		rest := account.Call{}
		c.account.Begin(&rest, "another", nil, false)
		held := c.account.Work()
		if err := held.Take(t.Context(), account.Child, 12<<20); err != nil {
			t.Fatal(err)
		}
		if err := rest.Take(t.Context(), account.Child, 2<<20); err != nil {
			t.Fatal(err)
		}
		if w := call("read", `{"doctype":"ToDo","name":"`+made.Data.Name+`"}`); !strings.Contains(w.Body.String(), `"exc_type":"ServiceUnavailable"`) {
			t.Errorf("beside others who hold most: %d %.400s", w.Code, w.Body)
		}
		// What is done is not told as if it were not.
		w := call("update", `{"doctype":"ToDo","name":"`+made.Data.Name+`","values":{"priority":"High"}}`)
		if strings.Contains(w.Body.String(), `"isError":true`) || !strings.Contains(w.Body.String(), `"cut":true`) {
			t.Errorf("a change beside others who hold most: %d %.400s", w.Code, w.Body)
		}
		held.End()
		rest.End()
		if got := c.do("GET", "/api/resource/ToDo/"+made.Data.Name, nil).Body.String(); !strings.Contains(got, `"priority":"High"`) {
			t.Errorf("what was done is not kept: %.300s", got)
		}
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
