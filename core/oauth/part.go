package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"
)

// Part is a path of the site that is a protected resource of its own (RFC 9728 section
// 3.1): its metadata is found by its path, and it takes no token but one whose resource
// it is (RFC 8707 section 2). A token for the whole site, or for no resource, was given
// to somebody who did not ask for it there.
type Part struct {
	Path   string // such as /mcp
	On     func() bool
	Scopes []string // that are of use there
}

// part is the part of the site that answers a path; nil: none does.
func (s *Service) part(path string) *Part {
	for i := range s.c.Parts {
		if p := &s.c.Parts[i]; p.Path == path {
			return p
		}
	}
	return nil
}

// names reports whether one of the resources is that path of the site at base.
func names(resources []string, base, path string) bool {
	return slices.ContainsFunc(resources, func(resource string) bool {
		u, err := url.Parse(resource)
		return err == nil && strings.EqualFold(u.Scheme+"://"+u.Host, base) && strings.TrimRight(u.EscapedPath(), "/") == path
	})
}

// partMetadata is RFC 9728's document of a part.
func (s *Service) partMetadata(p *Part) func(ctx context.Context, base string) (any, error) {
	return func(ctx context.Context, base string) (any, error) {
		set, err := s.settings(ctx)
		if err != nil || !set.showResource || !p.On() {
			return nil, err
		}
		return s.describeResource(set, base, p.Path, p.Scopes), nil
	}
}
