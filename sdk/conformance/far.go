package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// Far is another service, which the plugin asks over HTTP. Whoever runs the cases
// serves it at an address of its own.
//
//	POST /token   answers any client with the access token "far"
//	POST /mirror  answers the status of ?status, the content-type it was sent, and
//	              its method, its x-guest and its body as text
//	GET  /who     answers its authorization as text
func Far() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "far", "token_type": "Bearer", "expires_in": 3600}`)
	})
	mux.HandleFunc("/mirror", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
		status, serr := strconv.Atoi(r.URL.Query().Get("status"))
		if err != nil || serr != nil {
			status = http.StatusBadRequest
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("X-Guest")+" "+string(body))
	})
	mux.HandleFunc("GET /who", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	return mux
}

// ManifestFor is Manifest for a plugin that may reach Far at a host, such as
// 127.0.0.1:9000. The site has to allow it as a private host.
func ManifestFor(host string) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(Manifest, &m); err != nil {
		return nil, err
	}
	hosts, _ := m["allowed_hosts"].([]any)
	m["allowed_hosts"] = append(hosts, host)
	return json.Marshal(m)
}
