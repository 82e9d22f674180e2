package method

import (
	"net/http"
	"slices"
	"strings"

	"armature/core/fault"
	"armature/core/identity"
)

var defaultVerbs = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// admit applies the rules of who may call a method: the verb, the login, the
// roles, the scopes of the token. Every refusal is a PermissionError (reference
// section 4.1), a wrong verb too.
func admit(m *Method, verb string, caller *identity.Caller) error {
	if !m.allows(verb) {
		return fault.Denied("Not permitted")
	}
	if caller.IsGuest() && !m.AllowGuest {
		err := fault.Denied("You need to log in to call %s", m.Path)
		err.Title = "Not Permitted"
		return err
	}
	if !m.hasRole(caller) {
		return fault.Denied("User %s may not call %s", caller.User, m.Path)
	}
	if !m.AnyScope && !inScope(caller.Scopes, m.Path) {
		return outOfScope(m.Path)
	}
	return nil
}

func (m *Method) allows(verb string) bool {
	if verb == http.MethodHead || verb == http.MethodOptions {
		verb = http.MethodGet
	}
	if m.Verbs == nil {
		return slices.Contains(defaultVerbs, verb)
	}
	return slices.Contains(m.Verbs, verb)
}

func (m *Method) hasRole(caller *identity.Caller) bool {
	return len(m.Roles) == 0 || caller.Unchecked() || slices.ContainsFunc(m.Roles, caller.HasRole)
}

// inScope reports whether a credential may call the path. Scopes are never
// skipped, not for Administrator and not for an elevated caller: a token does
// not exceed what its user agreed to.
func inScope(scopes []string, path string) bool {
	if scopes == nil {
		return true
	}
	for _, scope := range scopes {
		if scope == "all" {
			return true
		}
		name, ok := strings.CutPrefix(scope, "method:")
		if !ok {
			continue
		}
		if prefix, wild := strings.CutSuffix(name, "*"); name == path || wild && strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// scopeError is the cause of a refusal by scope. The HTTP edge finds it by its
// method NeededScope and tells the client which scope to ask for.
type scopeError struct{ scope string }

func (e *scopeError) Error() string       { return "the token lacks the scope " + e.scope }
func (e *scopeError) NeededScope() string { return e.scope }

func outOfScope(path string) error {
	scope := "method:" + path
	return fault.Wrap(fault.Permission, "", &scopeError{scope}, "The token does not allow calling %s", path)
}
