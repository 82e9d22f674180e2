package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// within reports whether a path of the site at base is in one of the resources: the
// whole site, or what is below the path of one. The path is the escaped one, by which
// requests are led to what answers them.
func within(resources []string, base, requested string) bool {
	return slices.ContainsFunc(resources, func(resource string) bool {
		u, err := url.Parse(resource)
		if err != nil || !strings.EqualFold(u.Scheme+"://"+u.Host, base) {
			return false
		}
		below := strings.TrimRight(u.EscapedPath(), "/")
		return below == "" || requested == below || strings.HasPrefix(requested, below+"/")
	})
}
