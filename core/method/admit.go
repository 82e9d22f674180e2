package method

import (
	"net/http"
	"slices"
	"strings"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
)

var defaultVerbs = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// admit applies the rules of who may call a method: the verb, the login, the
// roles, the scopes of the token. Every refusal is a PermissionError (reference
// section 4.1), a wrong verb too.
func admit(m *Method, verb string, caller *identity.Caller) error {
	if !m.allows(verb) {
		return wrongVerb(m.Path, m.verbs())
	}
	if caller.IsGuest() && !m.AllowGuest {
		err := fault.Denied("You need to log in to call %s", m.Path)
		err.Title = "Not Permitted"
		return err
	}
	if !m.hasRole(caller) {
		return fault.Denied("User %s may not call %s", caller.User, m.Path)
	}
	return m.inScope(caller)
}

// inScope refuses a method that a token of the caller, or the plugin in whose
// frame the caller acts, does not reach. Scopes are never skipped, not for
// Administrator and not for an elevated caller.
func (m *Method) inScope(caller *identity.Caller) error {
	for _, set := range caller.Scopes {
		if !m.AnyScope && !set.Method(m.Path, m.named()) {
			return outOfScope(m.Path)
		}
	}
	in := caller.Frame
	switch {
	case in == nil || m.AnyScope && m.Tier == Ordinary:
		return nil
	case m.Plugin == in.Plugin():
		return nil // its own
	case !in.Method(m.Path, m.named()):
		return fault.Ungranted(in.Plugin(), scope.Methods(m.Path).String())
	case m.Tier == Credentials && !caller.Platform():
		return fault.Denied("The plugin %s may not call %s: it is not granted platform on this site: add platform to grants in its manifest, and approve it by name", in.Plugin(), m.Path)
	}
	return nil
}

// Wildcard reports whether a wildcard of a plugin's grants covers the path: it is
// none of the platform's own methods, or one that is Ordinary.
func Wildcard(path string) bool {
	if head, _, dotted := strings.Cut(path, "."); dotted && head != "framework" {
		return true
	}
	return slices.ContainsFunc(Framework(""), func(m *Method) bool { return m.Path == path && m.Tier == Ordinary })
}

// named reports whether no wildcard of a plugin's grants covers the method.
func (m *Method) named() bool { return m.Plugin == "" && m.Tier != Ordinary || m.Powerful }

// wrongVerb says which verbs work.
func wrongVerb(path string, verbs []string) error {
	return fault.Denied("Not permitted: %s is called with %s", path, strings.Join(verbs, " or "))
}

func (m *Method) verbs() []string {
	if m.Verbs == nil {
		return defaultVerbs
	}
	return m.Verbs
}

func (m *Method) allows(verb string) bool {
	if verb == http.MethodHead || verb == http.MethodOptions {
		verb = http.MethodGet
	}
	return slices.Contains(m.verbs(), verb)
}

func (m *Method) hasRole(caller *identity.Caller) bool {
	return len(m.Roles) == 0 || caller.Unchecked() || slices.ContainsFunc(m.Roles, caller.HasRole)
}

// scopeError is the cause of a refusal by scope. The HTTP edge finds it by its
// method NeededScope and tells the client which scope to ask for.
type scopeError struct{ scope string }

func (e *scopeError) Error() string       { return "the token lacks the scope " + e.scope }
func (e *scopeError) NeededScope() string { return e.scope }

func outOfScope(path string) error {
	needed := "method:" + path
	return fault.Wrap(fault.Permission, "", &scopeError{needed}, "The token does not allow calling %s", path)
}
