package document

import (
	"net/url"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
)

// reading are the rights a scope resource:<DocType>:read covers; the others
// need :write, which covers these too: who changes a document is shown it.
const reading = permission.Select | permission.Read | permission.Report | permission.Export | permission.Print

// inScope reports whether the caller's credential reaches a right on a DocType.
// It is asked of everybody, Administrator and elevated callers included: a token
// never exceeds what its user agreed to.
func inScope(caller *identity.Caller, dt *doctype.DocType, right permission.Right) bool {
	if caller.Scopes == nil {
		return true
	}
	for _, scope := range caller.Scopes {
		if scope == "all" {
			return true
		}
		rest, ok := strings.CutPrefix(scope, "resource:")
		if !ok {
			continue
		}
		name, access, _ := cutLast(rest, ":")
		if access != "write" && (access != "read" || right&^reading != 0) {
			continue
		}
		if decoded, err := url.PathUnescape(name); name == "*" || err == nil && decoded == dt.Name {
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

func outOfScope(dt *doctype.DocType, right permission.Right) error {
	scope := "resource:" + url.PathEscape(dt.Name) + ":write"
	if right&^reading == 0 {
		scope = "resource:" + url.PathEscape(dt.Name) + ":read"
	}
	e := fault.Wrap(fault.Permission, "", &scopeError{scope}, "The token does not allow %s access to %s", right, dt.Name)
	e.Quiet = true
	return e
}
