package document

import (
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
	"armature/core/scope"
)

// reading are the rights that read is in a scope; the others have words of their
// own there, or belong to write as a whole.
const reading = permission.Select | permission.Read | permission.Report | permission.Export | permission.Print

// scoped is a right as scopes know it.
func scoped(right permission.Right) scope.Right {
	switch {
	case right&^reading == 0:
		return scope.Read
	case right == permission.Create:
		return scope.Create
	case right == permission.Write:
		return scope.Update
	case right == permission.Delete:
		return scope.Delete
	case right&^(permission.Submit|permission.Cancel|permission.Amend) == 0:
		return scope.Submit
	}
	return scope.Write
}

// inScope refuses a right that a token of the caller, or the plugin in whose
// frame the caller acts, does not reach. It is asked of everybody, Administrator
// and elevated callers included: a token never exceeds what its user agreed to,
// and a plugin never what it was given.
func (s *Service) inScope(caller *identity.Caller, dt *doctype.DocType, right permission.Right) error {
	if !caller.Narrowed() {
		return nil
	}
	r := scoped(right)
	if set := caller.Document(dt.Name, madeBy(dt), s.protection[dt.Name].Platform, r); set != nil {
		return outOfScope(set, dt.Name, right, r)
	}
	return nil
}

// madeBy is the module of a DocType that was made at run time.
func madeBy(dt *doctype.DocType) string {
	if dt.Custom {
		return dt.Module
	}
	return ""
}

// scopeError is the cause of a refusal by a token's scopes. The HTTP edge finds
// it by its method NeededScope and tells the client which scope to ask for.
type scopeError struct{ scope string }

func (e *scopeError) Error() string       { return "the token lacks the scope " + e.scope }
func (e *scopeError) NeededScope() string { return e.scope }

func outOfScope(set *scope.Set, name string, right permission.Right, r scope.Right) error {
	if set.Plugin() != "" {
		return fault.Denied("The plugin %s is not granted %s on this site", set.Plugin(), scope.Of(name, r))
	}
	if r != scope.Read {
		r = scope.Write // what clients are told of; a narrower one would do
	}
	e := fault.Wrap(fault.Permission, "", &scopeError{scope.Of(name, r).Token()}, "The token does not allow %s access to %s", right, name)
	e.Quiet = true
	return e
}
