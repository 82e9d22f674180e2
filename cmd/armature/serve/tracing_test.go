package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// collector is an OpenTelemetry collector that keeps what it gets.
type collector struct {
	mu      sync.Mutex
	texts   []string
	headers []http.Header
	refuse  int // how many requests are answered with 503 first
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, _ := io.ReadAll(r.Body)
	if c.refuse > 0 {
		c.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.texts, c.headers = append(c.texts, string(text)), append(c.headers, r.Header)
	_, _ = io.WriteString(w, "{}")
}

// sent is a span as the collector got it.
type sent struct {
	TraceID string `json:"traceId"`
	ID      string `json:"spanId"`
	Parent  string `json:"parentSpanId"`
	Name    string `json:"name"`
	Kind    int    `json:"kind"`
	Start   string `json:"startTimeUnixNano"`
	End     string `json:"endTimeUnixNano"`
	Status  struct {
		Code int `json:"code"`
	} `json:"status"`
	Attributes []struct {
		Key   string `json:"key"`
		Value struct {
			String string `json:"stringValue"`
			Int    string `json:"intValue"`
		} `json:"value"`
	} `json:"attributes"`
}

func (s sent) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String + a.Value.Int
		}
	}
	return ""
}

func (c *collector) spans(t *testing.T) []sent {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []sent
	for _, text := range c.texts {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []sent `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if err := json.Unmarshal([]byte(text), &request); err != nil {
			t.Fatal(err)
		}
		for _, r := range request.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

func TestTraces(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		c := &collector{refuse: 1}
		server := httptest.NewServer(c)
		defer server.Close()
		in.Run("plugin", "install", in.Todo(t.TempDir()))
		s := in.Serve("--trace-endpoint", server.URL, "--trace-headers", "authorization=Bearer of the collector", "--trace-ratio", "0")
		s.Auth = in.Keys("Administrator")
		made := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "hidden text"}).(map[string]any)

		const traceID, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		call := func(path string, header map[string]string) int {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", s.Auth)
			r.Header.Set("Cookie", "other=hidden")
			for name, value := range header {
				r.Header.Set(name, value)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body)
			return res.StatusCode
		}
		follow := map[string]string{"traceparent": "00-" + traceID + "-" + parent + "-01", "X-Request-Id": "the-request"}
		if status := call("/api/method/acme.todo.show?name="+made["name"].(string)+"&token=hidden", follow); status != http.StatusOK {
			t.Fatalf("the method answers %d\n%s", status, s.Log)
		}
		s.Stop() // which sends what there is

		byName, names := map[string]sent{}, []string{}
		for _, span := range c.spans(t) {
			if span.TraceID != traceID {
				t.Errorf("%s belongs to trace %s: a request without one was followed", span.Name, span.TraceID)
			}
			if span.Start == "" || span.End < span.Start {
				t.Errorf("%s runs from %s to %s", span.Name, span.Start, span.End)
			}
			byName[span.Name], names = span, append(names, span.Name)
		}
		request, method, guest, statement := byName["GET"], byName["method acme.todo.show"], byName["guest acme.todo.show"], byName["SELECT ToDo"]
		if request.Parent != parent || method.Parent != request.ID || guest.Parent != method.ID || statement.Parent != guest.ID || statement.ID == "" {
			t.Fatalf("the tree is another: %q", names)
		}
		for _, kind := range []struct {
			span sent
			want int
		}{{request, 2}, {method, 1}, {guest, 1}, {statement, 3}} {
			if kind.span.Kind != kind.want {
				t.Errorf("%s is of kind %d", kind.span.Name, kind.span.Kind)
			}
		}
		for _, a := range []struct {
			span      sent
			key, want string
		}{
			{request, "http.response.status_code", "200"}, {request, "url.path", "/api/method/acme.todo.show"},
			{request, "armature.site", "default"}, {request, "armature.request_id", "the-request"},
			{guest, "armature.plugin", "acme.todo"}, {statement, "db.collection.name", "ToDo"},
		} {
			if got := a.span.attribute(a.key); got != a.want {
				t.Errorf("%s: %s is %q, want %q", a.span.Name, a.key, got, a.want)
			}
		}
		if text := statement.attribute("db.query.text"); !strings.HasPrefix(text, "SELECT ") {
			t.Errorf("the statement is %q", text)
		}
		_, secret, _ := strings.Cut(s.Auth, ":")
		for _, text := range c.texts {
			for _, bad := range []string{"hidden", secret, made["name"].(string), "collector"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s is in %s", bad, text)
				}
			}
		}
		if got := c.headers[0].Get("Authorization"); got != "Bearer of the collector" {
			t.Errorf("the collector is shown %q", got)
		}
	})
}

// TestTracesNeedNoCollector has nobody listen: the server does not care.
func TestTracesNeedNoCollector(t *testing.T) {
	in := armaturetest.New(t)
	server := httptest.NewServer(nil)
	server.Close()
	s := in.Serve("--trace-endpoint", server.URL)
	s.Auth = in.Keys("Administrator")
	s.Want("GET", "/api/resource/ToDo", nil)
	s.Stop()
	if !strings.Contains(s.Log.String(), "traces are lost") {
		t.Errorf("nobody is told: %s", s.Log)
	}
	for _, args := range [][]string{{"--trace-endpoint", "collector:4318"}, {"--trace-endpoint", "http://c", "--trace-ratio", "2"}, {"--trace-endpoint", "http://c", "--trace-headers", "hidden"}} {
		_, stderr, err := in.Try("", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
		if err == nil || !strings.Contains(stderr, "traces: ") || strings.Contains(stderr, "hidden") {
			t.Errorf("%q: %v, %s", args, err, stderr)
		}
	}
}
