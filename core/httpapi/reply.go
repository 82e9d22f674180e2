package httpapi

import (
	"net/http"
	"strings"

	"armature/core/fault"
	"armature/core/method"
)

// sendReply sends an answer that a method made itself. Headers that speak for
// the server are not the method's to set, and guard sets those by which a browser
// shows it in a sandbox: a page from a plugin must not act with the session of
// whoever looks at it.
func (x *exchange) sendReply(reply *method.Reply, guard func(http.Header)) error {
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
	guard(h)
	if bodyless(status) {
		x.w.WriteHeader(status)
		return nil
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
	if h.Get("Content-Encoding") == "" && compressible(h.Get("Content-Type")) {
		x.sendBody(status, reply.Body)
	} else {
		x.sendWhole(status, reply.Body)
	}
	return nil
}

// guardReply keeps what a method answers under its own path from being a page of anything.
func guardReply(h http.Header) {
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
}

// compressible reports whether what is of a media type gets much smaller.
func compressible(mediaType string) bool {
	essence, _, _ := strings.Cut(mediaType, ";")
	essence = strings.ToLower(strings.TrimSpace(essence))
	return strings.HasPrefix(essence, "text/") || strings.HasSuffix(essence, "json") || strings.HasSuffix(essence, "xml") || essence == "application/javascript"
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
