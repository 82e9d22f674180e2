package sites

// Named reports whether a site names the host (lower case, without port) in its
// configuration. Others are answered too, but nobody has said that they are ours.
func (s *Set) Named(host string) bool { return s.table.Load().byHost[host] != nil }
