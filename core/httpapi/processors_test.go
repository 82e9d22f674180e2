package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/httpapi"
	"armature/core/method"
)

// twoSites answers for a site of the test by the host.
type twoSites map[string]*httpapi.Tenant

// Acquire finds the site of a host.
func (s twoSites) Acquire(_ context.Context, host string, _ *http.Request) (*httpapi.Tenant, func(), error) {
	return s[host], func() {}, nil
}

// TestSitesShareProcessors: however many requests one site works on, a few go on at a
// time while another one has work; that one's are answered meanwhile, a body that is
// waited for keeps nobody away, and in the end everybody has an answer.
func TestSitesShareProcessors(t *testing.T) {
	const flood = 300
	ready, began := make(chan struct{}), make(chan struct{}, flood)
	var working atomic.Int64
	busy := &method.Method{Path: "test.busy", AllowGuest: true, Tier: method.Named, Func: func(context.Context, *method.Call) (any, error) {
		working.Add(1)
		defer working.Add(-1)
		began <- struct{}{}
		<-ready
		return "done", nil
	}}
	echo := &method.Method{Path: "test.echo", AllowGuest: true, Tier: method.Named, Func: func(_ context.Context, c *method.Call) (any, error) { return c.Args.Map(), nil }}
	table, err := method.NewTable([]*method.Method{busy, echo})
	if err != nil {
		t.Fatal(err)
	}
	methods := method.New(method.Config{Table: table, Store: newSite(t).site.Store, Invoker: plugins{}})
	sites := twoSites{}
	for _, name := range []string{"loud", "quiet"} {
		sites[name+".example"] = &httpapi.Tenant{Name: name, Authenticate: authenticate, Methods: methods}
	}
	handler := httpapi.New(httpapi.Config{Sites: sites})
	ask := func(host, path, body string) *httptest.ResponseRecorder {
		verb := http.MethodGet
		if body != "" {
			verb = http.MethodPost
		}
		r := httptest.NewRequest(verb, "http://"+host+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}

	var all sync.WaitGroup
	all.Go(func() { // which has work all the time
		if w := ask("quiet.example", "/api/method/test.busy", ""); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	<-began
	for range flood {
		all.Go(func() {
			if w := ask("loud.example", "/api/method/test.busy", ""); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	// They say nothing of what they wait for, so more and more of them go on, to a bound.
	for range 2 * runtime.GOMAXPROCS(0) {
		<-began
	}
	for range 20 {
		if w := ask("quiet.example", "/api/method/test.echo", `{"a": 1}`); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for more := true; more; { // nothing tells that no more of them will go on
		select {
		case <-began:
		case <-time.After(100 * time.Millisecond):
			more = false
		}
	}
	if n := working.Load(); n > 1+int64(10*runtime.GOMAXPROCS(0)) {
		t.Errorf("%d of %d requests of one site go on beside another's", n, flood)
	}
	close(ready)
	all.Wait()
}
