package httpapi

import (
	"errors"
	"net/http"

	"armature/core/doctype"
	"armature/core/fault"
)

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// Reserved reports whether a path is answered here, before any page.
func Reserved(path string) bool {
	return path == healthPath || path == readyPath || parseTarget(path).kind != page
}

// serveHealth answers /healthz and /readyz: they belong to the server, not to a
// site, and pass no budget, no credentials and no access log.
func (s *server) serveHealth(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case healthPath:
		writeHealth(w, http.StatusOK, `{"status":"ok"}`)
	case readyPath:
		if s.ready != nil {
			if err := s.ready(r.Context()); err != nil {
				s.log.Warn("not ready", "error", err)
				writeHealth(w, http.StatusServiceUnavailable, unavailable(err))
				return true
			}
		}
		writeHealth(w, http.StatusOK, `{"status":"ready"}`)
	default:
		return false
	}
	return true
}

// unavailable says what is wrong, as far as everybody may know it.
func unavailable(err error) string {
	body := []byte(`{"status":"unavailable"`)
	var f *fault.Error
	if errors.As(err, &f) && f.Message != "" {
		body = append(doctype.AppendString(append(body, `,"exc_type":`...), f.ExcType()), `,"message":`...)
		body = doctype.AppendString(body, f.Message)
	}
	return string(append(body, '}'))
}

func writeHealth(w http.ResponseWriter, status int, body string) {
	setAPIHeaders(w.Header())
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
