package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// ratesService is a service of rates that can be told to fail.
type ratesService struct {
	*httptest.Server
	asked atomic.Int32
	fails atomic.Pointer[http.HandlerFunc]
}

func newRatesService(t *testing.T) *ratesService {
	s := &ratesService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		fail := s.fails.Load()
		switch {
		case fail != nil:
			(*fail)(w, r)
		case r.URL.Path == "/v1/latest" && r.URL.Query().Get("base") == "EUR":
			_, _ = w.Write([]byte(`{"amount":1.0,"base":"EUR","date":"2026-01-02","rates":{"JPY":170.125,"USD":1.1}}`))
		default:
			http.Error(w, `{"message":"not found"}`, http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *ratesService) host() string { return strings.TrimPrefix(s.URL, "http://") }

func (s *ratesService) fail(how http.HandlerFunc) { s.fails.Store(&how) }

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// TestExampleCurrency: the README, with a service that goes down between two of
// its sections.
func TestExampleCurrency(t *testing.T) {
	service := newRatesService(t)
	in := armaturetest.New(t)
	w := in.Walk("RATES=" + service.host())
	w.Follow("currency", "Install", "Convert")
	if n := service.asked.Load(); n != 2 { // for EUR, and for XXX
		t.Errorf("the service was asked %d times", n)
	}
	service.fail(answers(http.StatusBadGateway, ""))
	w.Follow("currency", "While the service is down")
	if n := service.asked.Load(); n != 3 { // for EUR anew; then it is left alone
		t.Errorf("the service was asked %d times", n)
	}
}

// TestExampleCurrencyErrors: each way in which there is no rate has an error of
// its own.
func TestExampleCurrencyErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		how     http.HandlerFunc
		status  int
		excType string
	}{
		{"status", answers(http.StatusInternalServerError, ""), 503, "ServiceUnavailable"},
		{"no JSON", answers(http.StatusOK, "<html>"), 503, "ServiceUnavailable"},
		{"no rates", answers(http.StatusOK, `{"date":"2026-01-02","rates":{"USD":"1.1"}}`), 503, "ServiceUnavailable"},
		{"negative rate", answers(http.StatusOK, `{"date":"2026-01-02","rates":{"USD":-1}}`), 503, "ServiceUnavailable"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 504, "TimeoutError"},
		{"another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/", http.StatusFound)
		}, 403, "PermissionError"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := newRatesService(t)
			service.fail(tt.how)
			in := armaturetest.New(t)
			w := in.Walk("RATES=" + service.host())
			w.Follow("currency", "Install")
			w.Start()
			status, answer := w.Server.Call("POST", "/api/method/acme.currency.convert", map[string]any{"amount": 1, "from": "EUR", "to": "USD"})
			if status != tt.status || answer["exc_type"] != tt.excType {
				t.Errorf("%d %v", status, answer)
			}
		})
	}
}
