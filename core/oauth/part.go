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
	Scopes []string // that are of use there, the one to begin with first
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

// later adds to the scopes of a registration those that the client is going to be told to
// ask for: it registers with what the part's challenge names, and asks for more step by
// step, as which of the user is asked each time. A client that registers itself could have
// named them all.
func (s *Service) later(registered string) string {
	scopes := scopeSet(registered)
	for _, p := range s.c.Parts {
		if !p.On() || len(p.Scopes) == 0 || !slices.Contains(scopes, p.Scopes[0]) {
			continue
		}
		for _, one := range p.Scopes {
			if !slices.Contains(scopes, one) {
				scopes = append(scopes, one)
			}
		}
	}
	return strings.Join(scopes, " ")
}

// first are the scopes that such a client asks for where it does not say: not those that
// later has added.
func (s *Service) first(scopes []string) []string {
	for _, p := range s.c.Parts {
		if len(p.Scopes) > 0 && allCovered(scopes, p.Scopes) {
			scopes = slices.DeleteFunc(slices.Clone(scopes), func(one string) bool { return slices.Contains(p.Scopes[1:], one) })
		}
	}
	return scopes
}
