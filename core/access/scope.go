package access

import (
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/scope"
)

// reading are the rights that read is in a scope; the others have words of their
// own there, or belong to write as a whole.
const reading = Select | Read | Report | Export | Print

// scoped is a right as scopes know it.
func scoped(right Right) scope.Right {
	switch {
	case right&^reading == 0:
		return scope.Read
	case right == Create:
		return scope.Create
	case right == Write:
		return scope.Update
	case right == Delete:
		return scope.Delete
	case right&^(Submit|Cancel|Amend) == 0:
		return scope.Submit
	}
	return scope.Write
}

// InScope refuses a right that a token of the caller, or the plugin in whose
// frame the caller acts, does not reach. It is asked of everybody, Administrator
// and elevated callers included: a token never exceeds what its user agreed to,
// and a plugin never what it was given.
func (r *Rights) InScope(dt *doctype.DocType, right Right) error {
	if !r.Caller.Narrowed() {
		return nil
	}
	in := scoped(right)
	if set := r.Caller.Document(dt.Name, madeBy(dt), r.Protection[dt.Name].Platform, in); set != nil {
		return outOfScope(set, dt.Name, right, in)
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

// Reaches reports whether a caller has a right on documents of a DocType, on some of
// them at least: by the rules of roles, and by the scopes of the credential. It is
// for descriptions of what may be done; the doors ask again.
func Reaches(caller *identity.Caller, dt *doctype.DocType, right Right) bool {
	if caller.Document(dt.Name, madeBy(dt), true, scoped(right)) != nil {
		return false
	}
	return ByRole(dt.Permissions, caller, right) != None || right == Read && slices.Contains(caller.Shared, dt.Name)
}

// scopeError is the cause of a refusal by a token's scopes. The HTTP edge finds
// it by its method NeededScope and tells the client which scope to ask for.
type scopeError struct{ scope string }

func (e *scopeError) Error() string       { return "the token lacks the scope " + e.scope }
func (e *scopeError) NeededScope() string { return e.scope }

func outOfScope(set *scope.Set, name string, right Right, r scope.Right) error {
	if set.Plugin() != "" {
		return fault.Ungranted(set.Plugin(), scope.Of(name, r).String())
	}
	if r != scope.Read {
		r = scope.Write // what clients are told of; a narrower one would do
	}
	e := fault.Wrap(fault.Permission, "", &scopeError{scope.Of(name, r).Token()}, "The token does not allow %s access to %s", right, name)
	e.Quiet = true
	return e
}

// MaySome reports whether the roles of a caller allow a right, as scopes know it, on
// some documents of the DocType.
func MaySome(caller *identity.Caller, dt *doctype.DocType, right scope.Right) bool {
	return allows(caller, dt, right, Limited)
}

// MayAll reports the same of all documents of the DocType.
func MayAll(caller *identity.Caller, dt *doctype.DocType, right scope.Right) bool {
	return allows(caller, dt, right, Full) && (caller.Unchecked() || len(caller.Restrictions) == 0)
}

func allows(caller *identity.Caller, dt *doctype.DocType, right scope.Right, least Extent) bool {
	if dt == nil {
		return false
	}
	if caller.Unchecked() || dt.Child {
		return true // rows go with their documents
	}
	for _, r := range []struct {
		scope scope.Right
		right Right
	}{
		{scope.Read, Read}, {scope.Create, Create}, {scope.Update, Write},
		{scope.Delete, Delete}, {scope.Submit, Submit},
	} {
		if right&r.scope == 0 || r.scope == scope.Submit && !dt.Submittable || r.scope == scope.Create && dt.Single {
			continue
		}
		if ByRole(dt.Permissions, caller, r.right) < least {
			return false
		}
	}
	return true
}
