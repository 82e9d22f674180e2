package method

// Service runs methods on one site.
type Service struct{}
