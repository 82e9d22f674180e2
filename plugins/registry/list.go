package registry

import "armature/core/method"

// Methods lists the methods the site serves at this moment; it satisfies
// method.Lister.
func (s *Site) Methods() []*method.Method {
	t := s.table.Load()
	all := make([]*method.Method, 0, len(t.methods))
	for _, e := range t.methods {
		all = append(all, e.method)
	}
	return all
}
