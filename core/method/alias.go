package method

import (
	"cmp"
	"slices"
	"strings"
)

// aliases rewrite the beginning of an incoming path, longest prefix first, once.
type aliases []alias

type alias struct{ prefix, canonical string }

func newAliases(m map[string]string) aliases {
	list := make(aliases, 0, len(m))
	for prefix, canonical := range m {
		if prefix != "" {
			list = append(list, alias{prefix, canonical})
		}
	}
	slices.SortFunc(list, func(a, b alias) int {
		return cmp.Or(cmp.Compare(len(b.prefix), len(a.prefix)), cmp.Compare(a.prefix, b.prefix))
	})
	return list
}

// Canonical is the path that an incoming path means on this site. Look-up,
// scopes and limits all go by the canonical path.
func (s *Service) Canonical(path string) string {
	for _, a := range s.aliases {
		if rest, ok := strings.CutPrefix(path, a.prefix); ok {
			return a.canonical + rest
		}
	}
	return path
}
