package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"armature/core/fault"
	"armature/core/method"
)

// sendReply sends an answer that a method made itself. Headers that speak for
// the server are not the method's to set, and what a browser shows of it runs
// in a sandbox: a page from a plugin must not act with the session of whoever
// looks at it.
func (x *exchange) sendReply(reply *method.Reply) error {
	status := reply.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status < 200 || status > 599 {
		return fault.Invalid("", "%s answered with status %d", x.path, status)
	}
	h := x.w.Header()
	setAPIHeaders(h)
	for key, values := range reply.Header {
		if key = http.CanonicalHeaderKey(key); settable(key) {
			h[key] = values
		}
	}
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	if bodyless(status) {
		x.w.WriteHeader(status)
		return nil
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
	h["Content-Length"] = []string{strconv.Itoa(len(reply.Body))}
	x.w.WriteHeader(status)
	_, _ = x.w.Write(reply.Body)
	return nil
}

func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// settable reports whether a method may set the header.
func settable(key string) bool {
	switch key {
	case "Set-Cookie", "Content-Length", "Content-Security-Policy", "X-Content-Type-Options",
		"Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Trailer", "Te",
		"Www-Authenticate", "Strict-Transport-Security", "Clear-Site-Data", "Date", "Server",
		"X-Request-Id":
		return false
	}
	for _, prefix := range []string{"Access-Control-", "X-Framework-", "X-Ratelimit-", "Proxy-", "Cross-Origin-"} {
		if strings.HasPrefix(key, prefix) {
			return false
		}
	}
	return true
}
