package web

import (
	"net/http"

	"armature/core/auth"
	"armature/core/fault"
	"armature/core/identity"
)

// asked is the answer to every wish for a reset.
const asked = "If there is such an account, a link to reset its password has been sent to its e-mail address"

// ServeReset is the method framework.core.doctype.user.user.reset_password:
// argument user, an address or a user name. The answer tells nothing of whether
// there is such a user. Errors: CSRFTokenError for a page of another site;
// TooManyRequests.
func (p *Pages) ServeReset(w http.ResponseWriter, r *http.Request, get func(name string) any) error {
	if err := p.auth.TrustedOrigin(r); err != nil {
		return err
	}
	typed, _ := get("user").(string)
	if err := p.ask(r.Context(), r, typed); err != nil {
		return err
	}
	return sendJSON(w, map[string]string{"message": asked})
}

// ServeUpdate is the method framework.core.doctype.user.user.update_password:
// arguments new_password and key, of a link to reset a password, or old_password
// of whoever is logged in. It answers with where to go on. Errors: those of
// auth.Service.FinishReset and ChangePassword; BadRequest for a password in the
// address, which ends in logs.
func (p *Pages) ServeUpdate(w http.ResponseWriter, r *http.Request, caller *identity.Caller, get func(name string) any) error {
	if q := r.URL.Query(); q.Has("new_password") || q.Has("old_password") {
		return fault.New(fault.BadRequest, "", "Send the password in the body of the request")
	}
	password, _ := get("new_password").(string)
	if key, _ := get("key").(string); key != "" {
		if err := p.auth.TrustedOrigin(r); err != nil {
			return err
		}
		if _, err := p.auth.FinishReset(r.Context(), key, password, remote(r)); err != nil {
			return err
		}
		ClearCookies(w.Header(), r)
		return sendJSON(w, map[string]string{"message": LoginPath})
	}
	if caller.Narrowed() {
		return fault.Denied("A password is changed by whoever is logged in")
	}
	old, _ := get("old_password").(string)
	err := p.auth.ChangePassword(r.Context(), auth.Change{
		User: caller.User, Old: old, New: password, From: remote(r), Session: auth.SessionID(r),
	})
	if err != nil {
		return err
	}
	return sendJSON(w, map[string]string{"message": home(caller)})
}
