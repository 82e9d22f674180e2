package method

import (
	"net/http"

	"armature/core/fault"
	"armature/core/identity"
)

// found is a resolved method and the generation it is held in.
type found struct {
	method *Method
	pin    Pin
}

func (f found) release() {
	if f.pin != nil {
		f.pin.Release()
	}
}

// find resolves a canonical path: the platform's own methods first, then the
// generation of the calling method, then whatever serves the path now.
func (s *Service) find(within Pin, path string) (found, error) {
	if s.table != nil {
		if m := s.table.Lookup(path); m != nil {
			return found{method: m}, nil
		}
	}
	known := false
	generation, _ := within.(Invoker)
	for _, invoker := range []Invoker{generation, s.invoker} {
		if invoker == nil {
			continue
		}
		m, pin, exists := invoker.Pin(path)
		if m != nil {
			return found{m, pin}, nil
		}
		if pin != nil {
			pin.Release()
		}
		known = known || exists
	}
	if known {
		return found{}, notWhitelisted(path)
	}
	return found{}, fault.Invalid("", "Failed to get method for command %s", path)
}

// Unserved is an Invoker that knows why it does not serve a path that it could.
type Unserved interface {
	// Why says so in words for who manages plugins; empty: there is no such path.
	Why(path string) string
}

// findFor is find for a caller, who is told why a plugin's method is not served if
// they are the one who can do something about it.
func (s *Service) findFor(caller *identity.Caller, within Pin, path string) (found, error) {
	f, err := s.find(within, path)
	in, tells := s.invoker.(Unserved)
	if err == nil || !tells || fault.KindOf(err) != fault.Validation || caller.Narrowed() || !caller.HasRole(identity.SystemManager) {
		return f, err
	}
	if why := in.Why(path); why != "" {
		err = fault.Invalid("", "Failed to get method for command %s: %s", path, why)
	}
	return f, err
}

func notWhitelisted(path string) error {
	err := fault.Denied("Function %s is not whitelisted", path)
	err.Title = "Method Not Allowed"
	return err
}

// Reads reports whether a verb only reads: what a method writes under it is
// never committed.
func Reads(verb string) bool {
	switch verb {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}
