package serve

import (
	"net"
	"net/http"
	"strings"
)

// toTLS sends whoever comes by plain HTTP to the same address under https. The
// status keeps the verb (RFC 9110 section 15.4.9); a client that sent its key in
// the clear gets no answer to work with either way.
func toTLS(server net.Addr) http.Handler {
	_, port, _ := net.SplitHostPort(server.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, known := r.Host, r.Host != "" && !strings.ContainsAny(r.Host, "/\\@ ")
		if !known || !strings.HasPrefix(r.URL.Path, "/") {
			http.Error(w, "use https", http.StatusBadRequest)
			return
		}
		// A client that named no port came to the usual one and is to find the
		// server there, whatever port a container has it listen on.
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = net.JoinHostPort(h, port)
		}
		target := "https://" + host + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", target)
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
