package httpapi

import (
	"cmp"
	"html"
	"net/http"
	"strconv"
	"strings"

	"armature/core/fault"
)

// wantsHTML reports whether the client is a person's browser: it accepts HTML
// and does not ask for JSON.
func wantsHTML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json")
}

// told is what people read of an error, in a page or in the answer's message.
func (x *exchange) told(e *fault.Error) string {
	if x.caller.IsGuest() && unexpected(e.Kind) {
		return generalMessage
	}
	return cmp.Or(messageOf(e), http.StatusText(e.Status()))
}

// sendErrorPage answers with the site's page, or where there is no site with the
// least one that says what went wrong.
func (x *exchange) sendErrorPage(e *fault.Error) {
	status := e.Status()
	if x.site != nil && x.app == nil && x.site.ErrorPage != nil && x.site.ErrorPage(&x.w, status, x.told(e), x.id) == nil {
		return
	}
	title := html.EscapeString(strconv.Itoa(status) + " " + http.StatusText(status))
	page := "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title + "</title></head>\n" +
		"<body><h1>" + title + "</h1><p>" + html.EscapeString(x.told(e)) + "</p><p>Request " + x.id + "</p></body></html>\n"
	h := x.w.Header()
	setAPIHeaders(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write([]byte(page))
}
