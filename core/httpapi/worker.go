package httpapi

import "armature/core/fault"

// refuseWorker refuses a script that a browser would install as a service worker
// (Service Workers, section "Update": such a request says so in a header of its own).
// It would answer for every page of the site from then on, the login among them,
// whoever had brought it there and long after it was taken away. On a plugin's own origin
// there is nothing but what the plugin brings.
func (x *exchange) refuseWorker() error {
	if x.app != nil && x.app.OwnOrigin {
		return nil
	}
	if x.r.Header.Get("Service-Worker") == "script" {
		return fault.Denied("No service worker is served here: it could answer for the login page")
	}
	return nil
}
