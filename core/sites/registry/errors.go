package registry

import "io/fs"

// siteError is fs.ErrNotExist or fs.ErrExist, said of a site.
type siteError struct {
	site, is string
	err      error
}

func (e *siteError) Error() string { return "site " + e.site + " " + e.is }
func (e *siteError) Unwrap() error { return e.err }

// Missing is fs.ErrNotExist, said of the site of a name.
func Missing(name string) error { return &siteError{name, "does not exist", fs.ErrNotExist} }

// Taken is fs.ErrExist, said of the site of a name.
func Taken(name string) error { return &siteError{name, "already exists", fs.ErrExist} }

// NeverDropped is fs.ErrNotExist, said of a name under which no site was dropped.
func NeverDropped(name string) error {
	return &siteError{name, "has not been dropped", fs.ErrNotExist}
}
