package httpapi

import (
	"net/http"
)

// serveHealth answers /healthz and /readyz: they belong to the server, not to a
// site, and pass no budget, no credentials and no access log.
func (s *server) serveHealth(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz":
		writeHealth(w, http.StatusOK, `{"status":"ok"}`)
	case "/readyz":
		if s.ready != nil {
			if err := s.ready(r.Context()); err != nil {
				s.log.Warn("not ready", "error", err)
				writeHealth(w, http.StatusServiceUnavailable, `{"status":"unavailable"}`)
				return true
			}
		}
		writeHealth(w, http.StatusOK, `{"status":"ready"}`)
	default:
		return false
	}
	return true
}

func writeHealth(w http.ResponseWriter, status int, body string) {
	setAPIHeaders(w.Header())
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
