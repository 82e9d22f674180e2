package httpapi

import (
	"strings"
	"time"

	"armature/core/accesslog"
)

// maxLoggedPath is how many bytes of a path the log shows.
const maxLoggedPath = 1000

// logAccess writes the line of the access log. The query string stays out of it:
// it may carry a session, a code or a token. So do all headers, for the same
// reason.
func (x *exchange) logAccess(answered time.Time) {
	log := x.server.access
	if log == nil || !log.Enabled() {
		return
	}
	user := x.caller.User
	if x.named != "" {
		user = x.named
	}
	log.Write(&accesslog.Entry{
		Time: answered, ID: x.id, Site: x.siteName(), User: user, From: x.address(),
		Method: x.r.Method, Path: x.loggedPath(), Status: x.w.status, Bytes: x.w.bytes,
		Took: answered.Sub(x.arrived), Processing: x.processing, Client: x.caller.Client,
	})
}

func (x *exchange) siteName() string {
	if x.site == nil {
		return ""
	}
	return x.site.Name
}

// loggedPath is the path as logs show it.
func (x *exchange) loggedPath() string {
	path := x.r.URL.Path
	if len(path) > maxLoggedPath {
		return strings.ToValidUTF8(path[:maxLoggedPath], "") + "..."
	}
	return path
}
