package method

import (
	"net/http"
	"slices"
	"strings"

	"armature/core/identity"
)

// Lister is an Invoker that can say which methods it has.
type Lister interface {
	// Methods returns the methods there are at this moment, in any order.
	Methods() []*Method
}

// Callable lists the methods the caller may call, the platform's and the
// plugins', by path.
func (s *Service) Callable(caller *identity.Caller) []*Method {
	var all []*Method
	for _, path := range s.table.Paths() {
		all = append(all, s.table.Lookup(path))
	}
	if l, ok := s.invoker.(Lister); ok {
		all = append(all, l.Methods()...)
	}
	all = slices.DeleteFunc(all, func(m *Method) bool {
		verb := http.MethodGet
		if len(m.Verbs) > 0 {
			verb = m.Verbs[0]
		}
		return admit(m, verb, caller) != nil
	})
	slices.SortFunc(all, func(a, b *Method) int { return strings.Compare(a.Path, b.Path) })
	return all
}
