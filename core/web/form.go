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

// shown is what a page says of a failure and with which status, for what whoever
// filled the form in can mend or wait for. The status is 0 for any other failure,
// which is answered as that of any page, and 200 for none.
func shown(w http.ResponseWriter, err error) (text string, status int) {
	if err == nil {
		return "", http.StatusOK
	}
	f := fault.From(err)
	switch f.Kind {
	case fault.Authentication, fault.Validation, fault.Unavailable:
	case fault.TooManyRequests:
		if wait, ok := f.Err.(interface{ SetHeaders(http.Header) }); ok {
			wait.SetHeaders(w.Header())
		}
	default:
		return "", 0
	}
	return f.Message, f.Status()
}

// titled is a page's title, with a word before it when something went wrong.
func titled(title, wrong string) string {
	if wrong != "" {
		return "Error: " + title
	}
	return title
}
