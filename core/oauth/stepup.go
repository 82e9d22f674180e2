package oauth

import (
	"net/url"
	"slices"
	"strconv"
)

// How a user has logged in, as acr_values asks for it and the claim acr tells it: with
// one thing, or with two of which the session itself has seen both. A browser that was
// remembered has not shown the second one now.
const (
	oneFactor  = "urn:armature:acr:one-factor"
	twoFactors = "urn:armature:acr:two-factors"
)

// classOf is the class of a login by those methods; empty: it is not known how the
// user logged in.
func classOf(methods []string) string {
	switch {
	case slices.Contains(methods, "mfa"):
		return twoFactors
	case len(methods) > 0:
		return oneFactor
	}
	return ""
}

// classMet reports whether a login by those methods is one that the client asks for.
// Classes that nobody here knows are no demand: acr_values is a voluntary wish (OpenID
// Connect Core section 3.1.2.1).
func (a *authorization) classMet(methods []string) bool {
	if slices.Contains(a.classes, oneFactor) || !slices.Contains(a.classes, twoFactors) {
		return true
	}
	return classOf(methods) == twoFactors
}

// stepUp sends a user to log in with what the client asks for beside the password.
// Who has just done so and has not got it is not sent in a circle (RFC 9470 section 5).
func (a *authorization) stepUp(path string, q url.Values, now int64) (string, error) {
	switch {
	case a.wants("none"):
		return "", refuse("login_required", "The user has to log in with a second factor.")
	case a.loginAfter > 0:
		return "", refuse("unmet_authentication_requirements", "The user has not logged in with a second factor.")
	}
	q = clone(q)
	q.Set(loginAfter, strconv.FormatInt(now, 10))
	return a.loginAgain(path, q), nil
}
