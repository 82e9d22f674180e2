package web

import (
	"net/http"

	"armature/core/fault"
)

// maxForm is more than a form of these pages has: the longest field is where to
// go after a login.
const maxForm = 64 << 10

// readForm reads a form that a page of this site has sent. Errors:
// CSRFTokenError for one of another site, BadRequest, TooLarge.
func (p *Pages) readForm(w http.ResponseWriter, r *http.Request) error {
	if err := p.auth.SameOrigin(r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fault.Wrap(fault.BadRequest, "", err, "The form could not be read")
	}
	return nil
}

// titled is a page's title, with a word before it when something went wrong.
func titled(title, wrong string) string {
	if wrong != "" {
		return "Error: " + title
	}
	return title
}
